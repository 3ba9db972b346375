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

void print_result(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int complain(const Error& error) {
  std::fputs(fmt::format("ordeal: {}\n", error.message).c_str(), stderr);
  return exit_code(error.kind);
}

}  // namespace ordeal
