// The proof of a valid verdict as text, one line of JSON per transaction: {"op": 7}, or with
// logical times {"op": 7, "start": 3, "commit": 9}. Specified in docs/certificates.md.
#pragma once

#include <span>
#include <string>

#include "checkers/checker.h"

namespace ordeal {

std::string certificate_text(std::span<const CertificateLine> certificate);

}  // namespace ordeal
