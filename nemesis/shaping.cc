#include "nemesis/shaping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "nemesis/packet_filter.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

// $1 is the handle, $2 the queue, then for each end: peer, protocol (ip or ip6), sport or dport,
// port. The class is faster than any link: it only holds the queue.
constexpr std::string_view kAdd = R"sh(
handle=$1 queue=$2
shift 2
prepare() {
  root=$(tc qdisc show dev "$1" | sed -n 's/^qdisc \([^ ]* [^ ]*:\) .*root.*/\1/p' | head -n 1)
  case $root in
    "htb $handle:") return ;;
    ""|*" 0:") ;;
    *) echo "$1 has a queueing discipline already ($root), of another fault or of the" \
            "administrator; it is left alone" >&2
       return 1 ;;
  esac
  tc qdisc add dev "$1" root handle "$handle:" htb &&
    tc class add dev "$1" parent "$handle:" classid "$handle:2" htb rate 10gbit quantum 60000 &&
    tc qdisc add dev "$1" parent "$handle:2" $queue
}
while [ $# -gt 0 ]; do
  device=$(ip -o route get "$1" | sed -n 's/.* dev \([^ ]*\).*/\1/p')
  [ -n "$device" ] || { echo "there is no route to $1" >&2; exit 1; }
  prepare "$device" || exit 1
  if [ "$2" = ip ]; then ethernet=ip bits=32 priority=1
  else ethernet=ipv6 bits=128 priority=2; fi
  tc filter add dev "$device" parent "$handle:" protocol "$ethernet" prio "$priority" u32 \
    match "$2" protocol 6 0xff match "$2" dst "$1/$bits" match "$2" "$3" "$4" 0xffff \
    flowid "$handle:2" || exit 1
  shift 4
done
)sh";

// $1 is the handle.
constexpr std::string_view kRemove = R"sh(
shaped() { tc qdisc show | sed -n "s/^qdisc htb $1: dev \([^ ]*\) root.*/\1/p"; }
for device in $(shaped "$1"); do tc qdisc del dev "$device" root; done
left=$(shaped "$1")
[ -z "$left" ] || { echo "the queueing discipline $1: of $left could not be removed" >&2; exit 1; }
)sh";

// $1 is the handle, $2 the most bytes of a second, or 0, $3 those of a burst. Prints bytes and
// packets that left the queue so far, on all interfaces.
constexpr std::string_view kIsShaped = R"sh(
sent() {
  tc -s qdisc show | awk -v parent="parent $1:2 " '
    $1 == "qdisc" { here = index($0, parent) > 0; found += here }
    here && $1 == "Sent" { bytes += $2; packets += $4 }
    END { print bytes + 0, packets + 0; exit !found }'
}
for try in $(seq 40); do
  begin=$(date +%s%N)
  before=$(sent "$1") || { echo "there is no queue $1:2"; exit 1; }
  [ "${before#* }" = 0 ] || break
  sleep 0.1
done
[ "${before#* }" != 0 ] || { echo "no packet went through the queue"; exit 1; }
[ "$2" != 0 ] || { echo "${before#* } packets went through the queue"; exit 0; }
sleep 0.4
after=$(sent "$1") || exit 1
took_ms=$((($(date +%s%N) - begin) / 1000000))
bytes=$((${after% *} - ${before% *}))
echo "${after#* } packets went through the queue, $bytes bytes of them in $took_ms ms"
[ "$bytes" -le $(($3 + $2 * took_ms / 1000)) ]
)sh";

constexpr std::string_view kIsNotShaped = R"sh(
all=$(tc qdisc show) || exit 1
case $all in *"htb $1:"*) echo "there is a queue $1:"; exit 1 ;; esac
echo "there is no queue $1:"
)sh";

// $1 what, $2 how many at least, then counters. In those files a line of names comes before each
// line of values.
constexpr std::string_view kHasReceived = R"sh(
what=$1 least=$2
shift 2
counted() {
  cat /proc/net/snmp /proc/net/netstat | awk -v wanted=" $* " '
    NR % 2 { split($0, name); next }
    { for (i = 2; i <= NF; i++) if (index(wanted, " " $1 name[i] " ")) sum += $i }
    END { printf "%d", sum }'
}
before=$(counted "$@")
for try in $(seq 50); do
  sleep 0.1
  more=$(($(counted "$@") - before))
  [ "$more" -lt "$least" ] || break
done
echo "the receiver counted $more $what"
[ "$more" -ge "$least" ]
)sh";

bool from_host(const Path& path) { return path.from != kControlNode; }
bool through_proxy(const Path& path) { return from_host(path) && !path.listener.empty(); }

Error not_shaped(const Fault& fault, const Path& path, std::string_view direction) {
  return {ErrorKind::bad_input,
          fmt::format("fault {}: packets from {} to {} leave no host {}, so they cannot be queued; "
                      "choose another direction or leg, or a fault of the fault proxy",
                      fault.name, path.from, path.to, direction)};
}

Result<LegEnd> client_end(const Fault& fault, const Battlefield& battlefield, const Path& path) {
  if (!from_host(path)) return tl::unexpected(not_shaped(fault, path, "upstream"));
  ORDEAL_TRY(find_host(fault, battlefield, path.from));
  if (through_proxy(path)) {
    return LegEnd{path.from, battlefield.control_address, path.listener_port, false};
  }
  return LegEnd{path.from, path.address, path.port, false};
}

Result<LegEnd> server_end(const Fault& fault, const Battlefield& battlefield, const Path& path) {
  if (through_proxy(path)) return tl::unexpected(not_shaped(fault, path, "downstream"));
  return leg_end(fault, battlefield, path);
}

bool is_possible(const Leg& leg, std::string_view direction) {
  const bool up = std::all_of(leg.paths.begin(), leg.paths.end(), from_host);
  const bool down = std::none_of(leg.paths.begin(), leg.paths.end(), through_proxy);
  if (direction == "both") return up && down;
  return direction == "upstream" ? up : down;
}

}  // namespace

std::vector<std::string> shaped_directions(const Leg& leg) {
  std::vector<std::string> possible;
  for (const char* direction : {"upstream", "downstream", "both"}) {
    if (!leg.paths.empty() && is_possible(leg, direction)) possible.emplace_back(direction);
  }
  return possible;
}

Fault draw_shaped(std::string name, const Options& options, const Terrain& terrain, Random& random,
                  std::map<std::string, std::string> parameters) {
  const std::string& wanted = options.text("direction");
  std::map<std::string, std::vector<std::string>> possible;
  Terrain reach{.servers = {}, .legs = {}};
  for (const Leg& leg : terrain.legs) {
    std::vector<std::string> directions = shaped_directions(leg);
    if (wanted != "random") std::erase_if(directions, [&](const auto& d) { return d != wanted; });
    if (directions.empty()) continue;
    possible[leg.name] = std::move(directions);
    reach.legs.push_back(leg);
  }
  Fault fault = draw_on_leg(std::move(name), options, reach, random, std::move(parameters));
  if (!fault.legs.empty()) {
    fault.parameters["direction"] = random.pick(possible.at(fault.legs.front()));
  }
  return fault;
}

Result<std::vector<LegEnd>> sending_ends(const Fault& fault, const Battlefield& battlefield) {
  const std::string& direction = fault.parameters.at("direction");
  std::vector<LegEnd> ends;
  for (const std::string& name : fault.legs) {
    ORDEAL_TRY_ASSIGN(const Leg* leg, find_leg(fault, battlefield, name));
    for (const Path& path : leg->paths) {
      if (direction != "downstream") {
        ORDEAL_TRY_ASSIGN(LegEnd end, client_end(fault, battlefield, path));
        ends.push_back(std::move(end));
      }
      if (direction != "upstream") {
        ORDEAL_TRY_ASSIGN(LegEnd end, server_end(fault, battlefield, path));
        ends.push_back(std::move(end));
      }
    }
  }
  return ends;
}

Result<std::set<std::string>> receiving_hosts(const Fault& fault, const Battlefield& battlefield) {
  const std::string& direction = fault.parameters.at("direction");
  std::set<std::string> receivers;
  for (const std::string& name : fault.legs) {
    ORDEAL_TRY_ASSIGN(const Leg* leg, find_leg(fault, battlefield, name));
    for (const Path& path : leg->paths) {
      if (direction != "upstream") receivers.insert(path.from);
      if (direction == "downstream") continue;
      receivers.insert(through_proxy(path) ? std::string(kControlNode) : path.to);
    }
  }
  return receivers;
}

// FNV-1a; the highest digit keeps away from what administrators and tc itself number.
std::string shaping_handle(const Fault& fault, const std::string& run_id) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : fmt::format("{} {} {} {}", run_id, fault.name, fmt::join(fault.legs, ","),
                                  fault.parameters.at("direction"))) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return fmt::format("d{:03x}", hash >> 52);
}

Command add_shaping(const std::string& handle, const std::vector<LegEnd>& ends,
                    const std::string& queue) {
  std::vector<std::string> arguments{handle, queue};
  for (const LegEnd& end : ends) {
    arguments.push_back(end.peer);
    arguments.emplace_back(is_ipv6(end.peer) ? "ip6" : "ip");
    arguments.emplace_back(end.is_server ? "sport" : "dport");
    arguments.push_back(std::to_string(end.port));
  }
  return script(kAdd, std::move(arguments));
}

Command remove_shaping(const std::string& handle) { return script(kRemove, {handle}); }

Command is_shaped(const std::string& handle, std::int64_t bytes_per_second,
                  std::int64_t burst_bytes) {
  return script(kIsShaped, {handle, std::to_string(bytes_per_second), std::to_string(burst_bytes)});
}

Command has_received(const Reception& reception) {
  std::vector<std::string> arguments{std::string(reception.what), std::to_string(reception.least)};
  arguments.insert(arguments.end(), reception.counters.begin(), reception.counters.end());
  return script(kHasReceived, std::move(arguments));
}

Command is_not_shaped(const std::string& handle) { return script(kIsNotShaped, {handle}); }

}  // namespace ordeal
