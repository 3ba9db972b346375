#include "nemesis/packet_filter.h"

#include <algorithm>

#include "nemesis/plan.h"

namespace ordeal {
namespace {

// $1 is iptables or ip6tables, $2 the chain. Each step looks before it acts. Waits for the lock
// (-w): other programs, and the watchdog, use iptables too.
constexpr std::string_view kRemove = R"(
rules=$("$1" -w 5 -S) || exit 1
for hook in INPUT OUTPUT; do
  while "$1" -w 5 -D "$hook" -j "$2" 2>/dev/null; do :; done
done
if "$1" -w 5 -S "$2" >/dev/null 2>&1; then
  "$1" -w 5 -F "$2"
  "$1" -w 5 -X "$2"
fi
rules=$("$1" -w 5 -S) || exit 1
case "$rules
" in *"-N $2
"*) echo "chain $2 could not be removed" >&2; exit 1;; esac
)";

// $1 address, $2 port, $3 seconds, $4 "no answer" or "an answer".
constexpr std::string_view kConnect = R"(
timeout "$3" bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null
if [ $? = 124 ]; then seen="no answer"; else seen="an answer"; fi
echo "a connection to $1:$2 got $seen within $3 s"
[ "$seen" = "$4" ]
)";

// $1 address, $2 port.
constexpr std::string_view kAtOnce = R"(
for try in 1 2 3 4 5 6 7 8 9 10; do
  timeout 0.9 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null
  [ $? != 124 ] || { echo "connection $try to $1:$2 got no answer within 0.9 s"; exit 1; }
done
echo "10 connections to $1:$2 got an answer within 0.9 s each"
)";

// $1 is iptables or ip6tables, $2 the chain.
constexpr std::string_view kHasNone = R"(
rules=$("$1" -w 5 -S) || exit 1
case "$rules
" in *"-N $2
"*) echo "there is a chain $2"; exit 1;; esac
echo "there is no chain $2"
)";

// $1 address, $2 port, $3 how often.
constexpr std::string_view kOften = R"(
for lane in $(seq 16); do
  for try in $(seq "$lane" 16 "$3"); do
    timeout 0.5 bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null
  done &
done
wait
echo "tried $3 connections to $1:$2"
)";

std::string chain_text(const std::string& chain, const FilterRules& rules) {
  std::string text = "*filter\n:" + chain + " - [0:0]\n";
  for (const auto* each : {&rules.input, &rules.output}) {
    for (const std::string& rule : *each) text += "-A " + chain + " " + rule + "\n";
  }
  if (!rules.input.empty()) text += "-I INPUT -j " + chain + "\n";
  if (!rules.output.empty()) text += "-I OUTPUT -j " + chain + "\n";
  return text + "COMMIT\n";
}

}  // namespace

// Run ids end in what tells them apart, so the end is what is kept.
std::string filter_chain(std::string_view kind, const std::string& run_id) {
  const std::string prefix = "ORDEAL-" + std::string(kind) + "-";
  constexpr std::size_t length_max = 28;
  const std::size_t kept = std::min(run_id.size(), length_max - prefix.size());
  return prefix + run_id.substr(run_id.size() - kept);
}

std::string filter_program(bool ipv6) { return ipv6 ? "ip6tables" : "iptables"; }

bool is_ipv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

Command add_filter(const std::string& chain, bool ipv6, const FilterRules& rules) {
  Command result = command({filter_program(ipv6) + "-restore", "-w", "5", "--noflush"});
  result.standard_input = chain_text(chain, rules);
  return result;
}

Command remove_filter(const std::string& chain, bool ipv6) {
  return script(kRemove, {filter_program(ipv6), chain});
}

Command gets_no_answer(const std::string& address, int port) {
  return script(kConnect, {address, std::to_string(port), "0.4", "no answer"});
}

Command gets_answer(const std::string& address, int port) {
  return script(kConnect, {address, std::to_string(port), "2", "an answer"});
}

Command answers_at_once(const std::string& address, int port) {
  return script(kAtOnce, {address, std::to_string(port)});
}

Command has_no_filter(const std::string& chain, bool ipv6) {
  return script(kHasNone, {filter_program(ipv6), chain});
}

Command connect_often(const std::string& address, int port, int connections) {
  return script(kOften, {address, std::to_string(port), std::to_string(connections)});
}

}  // namespace ordeal
