#include "orchestrator/lab/uml_xstate_library.h"

// ORDEAL_UML_XSTATE is the path of the built library.
asm(".section .rodata\n"
    "ordeal_uml_xstate_begin:\n"
    ".incbin \"" ORDEAL_UML_XSTATE
    "\"\n"
    "ordeal_uml_xstate_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char ordeal_uml_xstate_begin[];
extern const char ordeal_uml_xstate_end[];
}

namespace ordeal {

std::string_view uml_xstate_library() {
  return {ordeal_uml_xstate_begin,
          static_cast<std::size_t>(ordeal_uml_xstate_end - ordeal_uml_xstate_begin)};
}

}  // namespace ordeal
