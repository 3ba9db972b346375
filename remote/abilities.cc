#include "remote/abilities.h"

namespace ordeal {
namespace {

// $1 is kTracingProbe. Prints one word for each ability. Root is either the login user, or one
// command away by sudo. A host has a clock of its own unless it is a container, where the
// capability to set the clock (bit 25, capabilities(7), CAP_SYS_TIME) is missing, or would move the
// clock of the whole machine. Queueing disciplines (nemesis/shaping.h) are tried in a network that
// is gone with its process.
constexpr const char* kProbe = R"sh(
PATH=$PATH:/usr/sbin:/sbin
if [ "$(id -u)" = 0 ]; then as_root=
elif sudo -n true; then as_root="sudo -n"
else as_root=none; fi 2> /dev/null
as_server=$as_root
if [ "$as_root" = none ]; then as_server=; fi
if $as_server sh -c "$1"; then echo tracing; fi 2> /dev/null
if [ "$as_root" != none ]; then
  echo root
  chain=ordeal-probe-$$
  if $as_root iptables -w 5 -N "$chain"; then
    $as_root iptables -w 5 -A "$chain" -j DROP && echo packet_filter
    $as_root iptables -w 5 -F "$chain"
    $as_root iptables -w 5 -X "$chain"
  fi
  for kind in "netem delay 1ms" "tbf rate 1mbit burst 32k latency 1s"; do
    $as_root unshare -n sh -c '
      tc qdisc add dev lo root handle 1: htb &&
        tc class add dev lo parent 1: classid 1:2 htb rate 1mbit &&
        tc qdisc add dev lo parent 1:2 $0' "$kind" && echo "${kind%% *}"
  done
  bounding=$(sed -n 's/^CapBnd:[[:space:]]*//p' /proc/self/status)
  contained=
  if [ -e /.dockerenv ] || [ -e /run/.containerenv ]; then contained=1; fi
  if systemd-detect-virt --quiet --container; then contained=1; fi
  if [ -z "$contained" ] && [ $(( 0x$bounding >> 25 & 1 )) = 1 ]; then echo own_clock; fi
fi 2> /dev/null
for library in /usr/lib*/faketime/libfaketimeMT.so.1 /usr/lib/*/faketime/libfaketimeMT.so.1; do
  if [ -e "$library" ]; then echo faketime; break; fi
done
exit 0
)sh";

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

Result<HostAbilities> probe_abilities(Host& host, std::stop_token stop) {
  const Command asked{{"sh", "-c", kProbe, "sh", std::string(kTracingProbe)}, {}, {}, {}};
  ORDEAL_TRY_ASSIGN(const CommandOutput output,
                    run_checked(host, asked, kCommandTimeout, std::move(stop)));
  const std::string& found = output.standard_output;
  return HostAbilities{.root = has_line(found, "root"),
                       .packet_filter = has_line(found, "packet_filter"),
                       .own_clock = has_line(found, "own_clock"),
                       .faketime = has_line(found, "faketime"),
                       .netem = has_line(found, "netem"),
                       .tbf = has_line(found, "tbf"),
                       .tracing = has_line(found, "tracing")};
}

}  // namespace ordeal
