#include "targets/real_waits_library.h"

// ORDEAL_REAL_WAITS is the path of the built library.
asm(".section .rodata\n"
    "ordeal_real_waits_begin:\n"
    ".incbin \"" ORDEAL_REAL_WAITS
    "\"\n"
    "ordeal_real_waits_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char ordeal_real_waits_begin[];
extern const char ordeal_real_waits_end[];
}

namespace ordeal {

std::string_view real_waits_library() {
  return {ordeal_real_waits_begin,
          static_cast<std::size_t>(ordeal_real_waits_end - ordeal_real_waits_begin)};
}

}  // namespace ordeal
