#include "workloads/isolation.h"

#include <array>

namespace ordeal {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"read-uncommitted", "read-committed",
                                                     "repeatable-read", "serializable"};

}  // namespace

constinit const OptionSpec kIsolationOption = {.name = "isolation",
                                               .type = OptionType::text,
                                               .default_value = "serializable",
                                               .summary = "isolation level of the transactions",
                                               .choices = kLevels};

}  // namespace ordeal
