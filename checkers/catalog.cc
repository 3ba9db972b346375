// The checkers that `ordeal check --checker` and campaigns know, in the order of `ordeal list
// checkers`.
#include <array>

#include "checkers/bank.h"
#include "checkers/checker.h"
#include "checkers/list_append.h"
#include "checkers/stats.h"

namespace ordeal {

std::span<const CheckerEntry> checker_catalog() {
  static const std::array kCatalog = {
      CheckerEntry{"list-append",
                   "isolation of transactions that append to lists, by cycles of dependencies",
                   list_append_options(), check_list_append},
      CheckerEntry{"bank", "every read of all accounts adds up to the same total", bank_options(),
                   check_bank},
      CheckerEntry{"stats", "operations by function and outcome", stats_options(), check_stats},
  };
  return kCatalog;
}

}  // namespace ordeal
