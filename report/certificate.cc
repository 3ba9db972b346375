#include "report/certificate.h"

#include <fmt/format.h>

#include <iterator>

namespace ordeal {

std::string certificate_text(std::span<const CertificateLine> certificate) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const auto& [operation, start, commit] : certificate) {
    if (commit == 0) {
      fmt::format_to(out, "{{\"op\": {}}}\n", operation);
    } else {
      fmt::format_to(out, "{{\"op\": {}, \"start\": {}, \"commit\": {}}}\n", operation, start,
                     commit);
    }
  }
  return text;
}

}  // namespace ordeal
