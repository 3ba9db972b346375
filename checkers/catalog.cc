// The checkers that `ordeal check --checker` and campaigns know, in the order of `ordeal list
// checkers`.
#include <array>

#include "checkers/bank.h"
#include "checkers/checker.h"
#include "checkers/counter.h"
#include "checkers/list_append.h"
#include "checkers/long_fork.h"
#include "checkers/rw_register.h"
#include "checkers/set.h"
#include "checkers/set_full.h"
#include "checkers/stats.h"
#include "checkers/total_queue.h"
#include "checkers/unique_ids.h"

namespace ordeal {

std::span<const CheckerEntry> checker_catalog() {
  static const std::array kCatalog = {
      CheckerEntry{"list-append",
                   "isolation of transactions that append to lists, by cycles of dependencies",
                   list_append_options(), check_list_append},
      CheckerEntry{"rw-register",
                   "isolation of transactions that read and write registers, by the same cycles",
                   rw_register_options(), check_rw_register},
      CheckerEntry{"bank", "every read of all accounts adds up to the same total", bank_options(),
                   check_bank},
      CheckerEntry{"set", "the final read has every element that was added", {}, check_set},
      CheckerEntry{"set-full", "added elements show up in reads and stay there", set_full_options(),
                   check_set_full},
      CheckerEntry{
          "counter", "reads lie between what was and what may have been added", {}, check_counter},
      CheckerEntry{"long-fork", "reads agree on the order in which keys were written",
                   long_fork_options(), check_long_fork},
      CheckerEntry{"unique-ids", "no identifier is generated twice", {}, check_unique_ids},
      CheckerEntry{
          "total-queue", "what is enqueued is dequeued, and nothing else", {}, check_total_queue},
      CheckerEntry{"stats", "operations by function and outcome", stats_options(), check_stats},
  };
  return kCatalog;
}

}  // namespace ordeal
