// The checkers that `ordeal check --checker` and campaigns know, in the order of `ordeal list checkers`.
#include <array>

#include "checkers/checker.h"
#include "checkers/list_append.h"

namespace ordeal {

std::span<const CheckerEntry> checker_catalog() {
  static const std::array kCatalog = {
      CheckerEntry{"list-append", "isolation of transactions that append to lists, by cycles of dependencies",
                   list_append_options(), check_list_append},
  };
  return kCatalog;
}

}  // namespace ordeal
