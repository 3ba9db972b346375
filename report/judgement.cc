#include "report/judgement.h"

namespace ordeal {

std::string_view validity_name(Validity validity) {
  static constexpr std::string_view kNames[] = {"valid", "unknown", "invalid"};
  return kNames[static_cast<std::size_t>(validity)];
}

}  // namespace ordeal
