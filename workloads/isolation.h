// The "isolation" setting that transactional workloads share. Targets read it to open transactions.
#pragma once

#include <string_view>

#include "base/options.h"

namespace ordeal {

extern const OptionSpec kIsolationOption;  // read-uncommitted, ..., serializable

}  // namespace ordeal
