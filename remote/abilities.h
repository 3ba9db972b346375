// What a host can do, found by asking it: for hosts of an inventory, of which nothing else is
// known.
#pragma once

#include <string_view>

#include "remote/host.h"

namespace ordeal {

// A shell script, to be run as those who run the servers: exits with 0 where strace may attach to a
// process that is not its child (ptrace(2), "Ptrace access mode checking"). The process that it
// attaches to ends as soon as it is traced, and strace with it.
inline constexpr std::string_view kTracingProbe = R"sh(
command -v strace >/dev/null || exit 1
sh -c 'for try in $(seq 250); do
  ! grep -q "^TracerPid:.*[1-9]" "/proc/$$/status" || exit 0
  sleep 0.02
done' &
strace -qq -e trace=none -o /dev/null -p "$!" 2>/dev/null
status=$?
kill "$!" 2>/dev/null
exit "$status"
)sh";

// Leaves nothing behind on the host. Fails where the host cannot be reached.
Result<HostAbilities> probe_abilities(Host& host, std::stop_token stop = {});

}  // namespace ordeal
