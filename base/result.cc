#include "base/result.h"

namespace ordeal {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return 254;
    case ErrorKind::surroundings:
    case ErrorKind::stopped:
      return 3;
    case ErrorKind::internal:
      break;
  }
  return 255;
}

}  // namespace ordeal
