#include <array>

#include "targets/postgres/postgres.h"
#include "targets/target.h"

namespace ordeal {

std::span<const TargetEntry> target_catalog() {
  static const std::array<TargetEntry, 1> kTargets = {{
      {"postgres",
       "a PostgreSQL server, or a primary and its standbys",
       postgres_options(),
       {"list-append", "bank"},
       make_postgres,
       {"db", "primary", "standby"},
       {"client-db", "replication", "subscription"},
       {"postgres"}},
  }};
  return kTargets;
}

}  // namespace ordeal
