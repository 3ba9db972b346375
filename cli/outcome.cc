#include "cli/outcome.h"

#include <cstdio>

namespace ordeal {

int exit_code_of(Validity validity) {
  switch (validity) {
    case Validity::valid:
      return 0;
    case Validity::invalid:
      return 1;
    case Validity::unknown:
      break;
  }
  return 2;
}

int complain(const Error& error) {
  fmt::print(stderr, "ordeal: {}\n", error.message);
  return exit_code(error.kind);
}

}  // namespace ordeal
