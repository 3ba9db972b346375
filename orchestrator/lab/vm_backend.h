// Which of the ways to run guests works on this machine. That /dev/kvm can be opened does not tell:
// in nested virtual machines, kernels may die on it. So it is tried.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string_view>

#include "base/result.h"
#include "orchestrator/lab/guest.h"

namespace ordeal {

inline constexpr std::string_view kVmBackends[] = {"auto", "kvm", "uml", "tcg"};

// `wanted` is one of kVmBackends. auto: kvm where a kernel comes up on it, else uml, else tcg.
// surroundings where what is wanted is not there: names the package, or what the kernel said last.
Result<GuestBackend> choose_backend(std::string_view wanted, const std::filesystem::path& image,
                                    std::stop_token stop);

}  // namespace ordeal
