#include <array>

#include "targets/etcd/etcd.h"
#include "targets/mariadb/mariadb.h"
#include "targets/postgres/postgres.h"
#include "targets/target.h"

namespace ordeal {

std::span<const TargetEntry> target_catalog() {
  static const std::array<TargetEntry, 3> kTargets = {{
      {"postgres",
       "a PostgreSQL server, or a primary and its standbys",
       postgres_options(),
       {"list-append", "bank"},
       make_postgres,
       {"db", "primary", "standby"},
       {"client-db", "replication", "subscription"},
       {"postgres"}},
      {"mariadb",
       "a MariaDB server, a primary and its replicas, or a Galera cluster",
       mariadb_options(),
       {"list-append", "bank"},
       make_mariadb,
       {"db", "primary", "replica", "member"},
       {"client-db", "replication"}},
      {"etcd",
       "a cluster of etcd members",
       etcd_options(),
       {"register", "list-append"},
       make_etcd,
       {"member"},
       {"client-db", "peer"}},
  }};
  return kTargets;
}

}  // namespace ordeal
