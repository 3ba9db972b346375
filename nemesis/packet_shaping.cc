#include "nemesis/packet_shaping.h"

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <utility>

#include "nemesis/packet_filter.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"
#include "nemesis/shaping.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr int kProbeConnections = 40;
constexpr std::int64_t kBurstBytes = 16'384;

struct Shape {
  std::string queue;
  std::string words;  // "are delayed by 80 ms"
  std::int64_t bytes_per_second = 0;
};

Result<FaultPlan> plan_shape(const Fault& fault, const Battlefield& battlefield,
                             const Shape& shape) {
  ORDEAL_TRY_ASSIGN(const std::vector<LegEnd> ends, sending_ends(fault, battlefield));
  std::map<std::string, std::vector<LegEnd>> by_host;
  for (const LegEnd& end : ends) by_host[end.host].push_back(end);
  const std::string handle = shaping_handle(fault, battlefield.run_id);
  FaultPlan plan{.detail = fmt::format("packets of {} {} {}", fmt::join(fault.legs, ", "),
                                       shape.words, direction_words(fault)),
                 .inject = {},
                 .undo = {}};
  plan.effect = probe_paths(fault, battlefield, [](const std::string& address, int port) {
    return connect_often(address, port, kProbeConnections);
  });
  plan.healed = probe_paths(fault, battlefield, answers_at_once);
  for (const auto& [host, of_host] : by_host) {
    plan.inject.push_back({host, {add_shaping(handle, of_host, shape.queue)}});
    plan.undo.push_back({host, {remove_shaping(handle)}});
    plan.effect.push_back({host, {is_shaped(handle, shape.bytes_per_second, kBurstBytes)}});
    plan.healed.push_back({host, {is_not_shaped(handle)}});
  }
  return plan;
}

FaultEntry shaping_fault(std::string_view name, std::string_view summary, FaultNeed need) {
  FaultEntry entry{};
  entry.name = name;
  entry.summary = summary;
  entry.need = need;
  entry.strikes = Strikes::legs;
  entry.typical = {.to_see = milliseconds(1500), .to_heal = milliseconds(500)};
  return entry;
}

// ---- bandwidth-limit

constexpr OptionSpec kRateOptions[] = {
    kLegsOption,
    kDirectionOption,
    {.name = "max-rate",
     .type = OptionType::integer,
     .default_value = "1000",
     .summary = "the leg has at most this bandwidth, in kbit/s, and at least a tenth of it",
     .minimum = 10,
     .maximum = 10'000'000},
};

Fault draw_rate(const Options& options, const Terrain& terrain, Random& random) {
  const auto rate_max = options.integer("max-rate");
  const auto rate = random.between(rate_max / 10, rate_max);
  return draw_shaped("bandwidth-limit", options, terrain, random, {{"rate", std::to_string(rate)}});
}

// A tenth more than the rate is the tolerance.
Result<FaultPlan> plan_rate(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double kbit, number_of(fault, "rate", 1, 10'000'000));
  const auto rate = static_cast<std::int64_t>(kbit);
  return plan_shape(fault, battlefield,
                    {.queue = fmt::format("tbf rate {}kbit burst {} latency 1s", rate, kBurstBytes),
                     .words = fmt::format("have a bandwidth of {} kbit/s", rate),
                     .bytes_per_second = rate * 1100 / 8});
}

// ---- packet-delay

constexpr std::int64_t kDelayMax_ms = 60'000;

constexpr OptionSpec kDelayOptions[] = {
    kLegsOption,
    kDirectionOption,
    {.name = "max-delay",
     .type = OptionType::duration,
     .default_value = "200ms",
     .summary = "packets are delayed by at most this, and at least half of it, with a jitter of up "
                "to a quarter of that",
     .minimum = 20,
     .maximum = kDelayMax_ms},
};

Fault draw_delay(const Options& options, const Terrain& terrain, Random& random) {
  const auto delay_max = options.duration("max-delay").count();
  const auto delay = random.between(delay_max / 2, delay_max);
  const auto jitter = random.between(0, delay / 4);
  return draw_shaped("packet-delay", options, terrain, random,
                     {{"delay", std::to_string(delay)}, {"jitter", std::to_string(jitter)}});
}

// $1 address, $2 port, $3 milliseconds. A twentieth is the tolerance, for the kernel's timers.
constexpr std::string_view kTakesTime = R"(
timeout 9 bash -c '
  least=
  for try in 1 2 3 4 5; do
    before=${EPOCHREALTIME/[.,]/}
    exec 3<>"/dev/tcp/$0/$1" || exit 1
    took=$((${EPOCHREALTIME/[.,]/} - before))
    exec 3>&-
    if [ -z "$least" ] || [ "$took" -lt "$least" ]; then least=$took; fi
  done
  echo "the fastest of 5 connections to $0:$1 took $((least / 1000)) ms"
  [ "$least" -ge $(($2 * 950)) ]' "$1" "$2" "$3" 2>/dev/null
)";

Result<FaultPlan> plan_delay(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double delay, number_of(fault, "delay", 1, kDelayMax_ms));
  ORDEAL_TRY_ASSIGN(const double jitter, number_of(fault, "jitter", 0, delay));
  ORDEAL_TRY_ASSIGN(
      FaultPlan plan,
      plan_shape(fault, battlefield,
                 {.queue = fmt::format("netem limit 10000 delay {:.0f}ms {:.0f}ms", delay, jitter),
                  .words = fmt::format("are delayed by {:.0f} ms, more or less by up to {:.0f} ms,",
                                       delay, jitter)}));
  const int ways = fault.parameters.at("direction") == "both" ? 2 : 1;
  const std::string least = fmt::format("{:.0f}", ways * (delay - jitter));
  for (HostCommands& probe : probe_paths(fault, battlefield, [&](const auto&address, int port) {
         return script(kTakesTime, {address, std::to_string(port), least});
       })) {
    plan.effect.push_back(std::move(probe));
  }
  return plan;
}

// ---- packet-reorder, packet-duplicate, packet-corrupt

constexpr OptionSpec kShareOptions[] = {
    kLegsOption,
    kDirectionOption,
    {.name = "max-share",
     .type = OptionType::integer,
     .default_value = "20",
     .summary = "at most this share of packets is struck, in percent, and at least half of it",
     .minimum = 2,
     .maximum = 100},
};

// A fault that strikes a share of the packets: what netem is told, with {} for the percentage, and
// by which counters the receiver's kernel tells that it met such packets (Linux,
// Documentation/networking/snmp_counter.rst). Retransmissions that were not needed count as
// duplicates too, but are rare.
struct ShareFault {
  std::string_view name;
  std::string_view summary;
  std::string_view done;  // "packets of client-db ... (20 %)"
  std::string_view queue;
  Reception reception;
};

const ShareFault kShareFaults[] = {
    // Packets that overtake are those that are not delayed.
    {"packet-reorder",
     "lets some of a leg's packets overtake others (netem)",
     "overtake others",
     "delay 20ms reorder {}% 25%",
     {"segments that came too early", {"TcpExt:TCPOFOQueue"}, 1}},
    {"packet-duplicate",
     "sends some of a leg's packets twice (netem)",
     "are sent twice",
     "duplicate {}%",
     {"segments that it had already", {"TcpExt:TCPDSACKOldSent", "TcpExt:TCPDSACKOfoSent"}, 3}},
    {"packet-corrupt",
     "flips a bit in some of a leg's packets (netem)",
     "have a bit flipped",
     "corrupt {}%",
     {"segments with a wrong checksum", {"Tcp:InCsumErrors"}, 1}},
};
enum Share : std::size_t { kReorder, kDuplicate, kCorrupt };

template <Share share>
Fault draw_share(const Options& options, const Terrain& terrain, Random& random) {
  const auto share_max = options.integer("max-share");
  const auto percent = random.between(share_max / 2, share_max);
  return draw_shaped(std::string(kShareFaults[share].name), options, terrain, random,
                     {{"percent", std::to_string(percent)}});
}

template <Share share>
Result<FaultPlan> plan_share(const Fault& fault, const Battlefield& battlefield) {
  const ShareFault& own = kShareFaults[share];
  ORDEAL_TRY_ASSIGN(const double number, number_of(fault, "percent", 1, 100));
  const std::string percent = fmt::format("{:.0f}", number);
  ORDEAL_TRY_ASSIGN(
      FaultPlan plan,
      plan_shape(fault, battlefield,
                 {.queue = "netem limit 10000 " + fmt::format(fmt::runtime(own.queue), percent),
                  .words = fmt::format("{} ({} %)", own.done, percent)}));
  ORDEAL_TRY_ASSIGN(const std::set<std::string> receivers, receiving_hosts(fault, battlefield));
  for (const std::string& host : receivers) {
    plan.effect.push_back({host, {has_received(own.reception)}});
  }
  return plan;
}

template <Share share>
FaultEntry share_fault() {
  const ShareFault& own = kShareFaults[share];
  FaultEntry entry = shaping_fault(own.name, own.summary, FaultNeed::netem);
  entry.options = kShareOptions;
  entry.draw = draw_share<share>;
  entry.plan = plan_share<share>;
  return entry;
}

}  // namespace

FaultEntry bandwidth_limit_fault() {
  FaultEntry entry = shaping_fault(
      "bandwidth-limit", "limits the bandwidth of a leg, where a host sends (tbf)", FaultNeed::tbf);
  entry.options = kRateOptions;
  entry.draw = draw_rate;
  entry.plan = plan_rate;
  return entry;
}

FaultEntry packet_delay_fault() {
  FaultEntry entry = shaping_fault(
      "packet-delay", "delays a leg's packets, with jitter, where a host sends (netem)",
      FaultNeed::netem);
  entry.options = kDelayOptions;
  entry.draw = draw_delay;
  entry.plan = plan_delay;
  return entry;
}

FaultEntry packet_reorder_fault() { return share_fault<kReorder>(); }
FaultEntry packet_duplicate_fault() { return share_fault<kDuplicate>(); }
FaultEntry packet_corrupt_fault() { return share_fault<kCorrupt>(); }

}  // namespace ordeal
