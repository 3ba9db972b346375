#include "nemesis/leg_toxics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/join.hpp>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "nemesis/plan.h"
#include "nemesis/proxy/proxy.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// An attribute of the toxic that is drawn anew each time, evenly on a logarithmic scale.
struct Drawn {
  std::string_view attribute;
  double least = 0;
  double most = 0;
};

// A fault of the proxy. `mode` is of the leg as a whole, in place of a toxic.
struct ToxicFault {
  std::string_view name;
  std::string_view summary;
  std::string_view toxic;
  proxy::LegMode mode = proxy::LegMode::enabled;
  std::array<Drawn, 2> drawn{};
  milliseconds to_see{100};  // as TypicalTimes
};

constexpr ToxicFault kFaults[] = {
    {"leg-refuse", "connections of a leg are closed and new ones refused", "",
     proxy::LegMode::refuse},
    {"leg-reset", "connections of a leg are reset, new ones too", "", proxy::LegMode::reset},
    {"latency",
     "data of a leg arrives later, with jitter",
     "latency",
     proxy::LegMode::enabled,
     {{{"latency", 20, 1000}, {"jitter", 1, 20}}}},
    {"timeout",
     "data of a leg is swallowed, and the connection closed after a while",
     "timeout",
     proxy::LegMode::enabled,
     {{{"timeout", 50, 5000}}}},
    {"limit-data",
     "connections of a leg close after so many bytes",
     "limit_data",
     proxy::LegMode::enabled,
     {{{"bytes", 16, 8192}}},
     milliseconds{300}},
    {"bandwidth",
     "a leg carries few KB/s",
     "bandwidth",
     proxy::LegMode::enabled,
     {{{"rate", 1, 8}}}},
    {"slicer",
     "data of a leg arrives in small pieces, one after the other",
     "slicer",
     proxy::LegMode::enabled,
     {{{"average_size", 1, 64}, {"delay", 100, 10'000}}}},
    {"slow-close",
     "connections of a leg close late",
     "slow_close",
     proxy::LegMode::enabled,
     {{{"delay", 100, 5000}}},
     milliseconds{500}},
    {"reset-peer",
     "connections of a leg are reset after a while",
     "reset_peer",
     proxy::LegMode::enabled,
     {{{"timeout", 1, 2000}}},
     milliseconds{1000}},
    {"half-open", "one end of a leg's connections is gone, and the other is not told", "half_open"},
    {"segment-loss",
     "segments are missing in what a leg delivers, as no TCP would",
     "loss",
     proxy::LegMode::enabled,
     {{{"probability", 0.01, 0.2}}}},
};

// A fault that strikes nothing is none.
constexpr double kLeastToxicity = 0.001;

Status check_toxicity(std::string_view, const std::string& text) {
  if (std::stod(text) >= kLeastToxicity) return {};
  return bad_input("expected a number from {} to 1", kLeastToxicity);
}

constexpr OptionSpec kToxicOptions[] = {
    kLegsOption,
    kDirectionOption,
    {.name = "toxicity",
     .type = OptionType::real,
     .default_value = "1",
     .summary = "probability that a connection is struck at all, from 0.001",
     .maximum = 1,
     .check = check_toxicity}};
constexpr OptionSpec kModeOptions[] = {kLegsOption};

// As text for a schedule: whole numbers, but for probabilities.
std::string draw_value(const Drawn& drawn, Random& random) {
  const double exponent = std::log(drawn.most / drawn.least) * random.unit();
  const double value = drawn.least * std::exp(exponent);
  return drawn.most <= 1 ? fmt::format("{:.3f}", value) : fmt::format("{:.0f}", value);
}

std::vector<std::string> listeners_of(const Leg& leg) {
  std::vector<std::string> names;
  for (const Path& path : leg.paths) {
    const bool is_new = std::find(names.begin(), names.end(), path.listener) == names.end();
    if (!path.listener.empty() && is_new) names.push_back(path.listener);
  }
  return names;
}

Terrain proxied(Terrain terrain) {
  std::erase_if(terrain.legs, [](const Leg& leg) { return listeners_of(leg).empty(); });
  return terrain;
}

template <std::size_t index>
Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  const ToxicFault& own = kFaults[index];
  Fault fault{.name = std::string(own.name), .hosts = {}};
  const std::string leg = draw_leg(options, proxied(terrain), random);
  if (leg.empty()) return fault;
  fault.legs = {leg};
  if (own.toxic.empty()) return fault;
  fault.parameters["direction"] = draw_direction(options, random);
  fault.parameters["toxicity"] = options.text("toxicity");
  for (const Drawn& drawn : own.drawn) {
    if (drawn.attribute.empty()) continue;
    fault.parameters[std::string(drawn.attribute)] = draw_value(drawn, random);
  }
  return fault;
}

Result<proxy::Toxic> toxic_of(const ToxicFault& own, const Fault& fault) {
  proxy::Toxic toxic;
  toxic.type = own.toxic;
  ORDEAL_TRY_ASSIGN(toxic.toxicity, number_of(fault, "toxicity", kLeastToxicity, 1));
  for (const Drawn& drawn : own.drawn) {
    if (drawn.attribute.empty()) continue;
    ORDEAL_TRY_ASSIGN(const double value, number_of(fault, std::string(drawn.attribute), 0, 1e12));
    toxic.attributes[std::string(drawn.attribute)] = value;
  }
  return proxy::completed(std::move(toxic));
}

// ---- legs that take no connection

InProcess mode_step(proxy::Proxy& proxy, const std::string& listener, proxy::LegMode mode) {
  return {.inject = [&proxy, listener, mode] { return proxy.set_mode(listener, mode); },
          .undo = [&proxy, listener] { return proxy.set_mode(listener, proxy::LegMode::enabled); },
          .effect = [&proxy, listener, mode](steady_clock::time_point) -> Result<std::string> {
            ORDEAL_TRY_ASSIGN(const proxy::LegInfo leg, proxy.leg(listener));
            if (leg.spec.mode == mode && leg.counters.open == 0) {
              return fmt::format("{}: no connection is left", listener);
            }
            return surroundings_error("{}: {} connections are open", listener, leg.counters.open);
          }};
}

// ---- toxics

std::string toxic_name(const std::string& fault, proxy::Direction direction) {
  return fmt::format("ordeal-{}-{}", fault, proxy::direction_name(direction));
}

// What the toxic has done so far to the connections of the listener.
Result<std::string> seen_of(proxy::Proxy& proxy, const std::string& listener,
                            const proxy::Toxic& toxic) {
  const std::string place = fmt::format("{} {}", listener, proxy::direction_name(toxic.direction));
  ORDEAL_TRY_ASSIGN(const proxy::LegInfo leg, proxy.leg(listener));
  for (std::size_t i = 0; i < leg.toxics.size(); ++i) {
    if (leg.toxics[i].name != toxic.name) continue;
    proxy::ToxicEffect effect = leg.effects[i];
    // Ends are held back by whatever delays; they are the point of these two only.
    const std::string& type = leg.toxics[i].type;
    if (type != "slow_close" && type != "half_open") effect.late_ends = 0;
    const std::string seen = proxy::effect_text(effect);
    if (seen.empty()) break;
    return fmt::format("{}: {}", place, seen);
  }
  return surroundings_error("{}: nothing has met the toxic", place);
}

// Of latency: what a client waits for, where the server answers the end of a connection by its own.
// Where it does not, as a server that is dead, the proxy's counters are all there is; the same
// where only some connections are struck, or for too long to wait.
std::optional<milliseconds> waiting_of(const proxy::Proxy& proxy, const std::string& listener,
                                       const proxy::Toxic& toxic,
                                       steady_clock::time_point deadline) {
  constexpr milliseconds kLongest{3000};
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  if (toxic.type != "latency" || toxic.toxicity < 1 || left <= milliseconds{0}) return {};
  if (toxic.attributes.at("latency") > static_cast<double>(kLongest.count()) / 2) return {};
  const auto took = proxy.round_trip(listener, std::min(kLongest, left));
  return took ? std::optional(*took) : std::nullopt;
}

// Of the toxic in its direction, one of so many `directions` of the fault. A wait shows that each
// of them is slow where it was as long as all together.
Result<std::string> effect_of(proxy::Proxy& proxy, const std::string& listener,
                              const proxy::Toxic& toxic, std::size_t directions,
                              steady_clock::time_point deadline) {
  const auto took = waiting_of(proxy, listener, toxic, deadline);
  auto counted = seen_of(proxy, listener, toxic);
  if (!took) return counted;
  const std::string waited =
      fmt::format("{}: a connection and its end took {} ms", listener, took->count());
  const double took_ms = static_cast<double>(took->count());
  const double least_ms = (toxic.attributes.at("latency") - toxic.attributes.at("jitter")) * 0.95;
  if (took_ms < least_ms) return surroundings_error("{}", waited);
  if (counted) return *counted + "; " + waited;
  if (took_ms >= least_ms * static_cast<double>(directions)) return waited;
  return surroundings_error("{}; {}", counted.error().message, waited);
}

InProcess toxic_step(proxy::Proxy& proxy, const std::string& listener, proxy::Toxic toxic,
                     std::size_t directions) {
  const std::string name = toxic.name;
  return {.inject = [&proxy, listener, toxic]() -> Status {
            ORDEAL_TRY(proxy.add_toxic(listener, toxic));
            return proxy.touch(listener);
          },
          .undo = [&proxy, listener, name]() -> Status {
            ORDEAL_TRY_ASSIGN(const proxy::LegInfo leg, proxy.leg(listener));
            const bool there = std::any_of(leg.toxics.begin(), leg.toxics.end(),
                                           [&](const auto& each) { return each.name == name; });
            return there ? proxy.remove_toxic(listener, name) : Status();
          },
          .effect =
              [&proxy, listener, toxic, directions](steady_clock::time_point deadline) {
                return effect_of(proxy, listener, toxic, directions, deadline);
              },
          .direction = std::string(proxy::direction_name(toxic.direction))};
}

std::vector<proxy::Direction> directions_of(const Fault& fault) {
  const std::string& text = fault.parameters.at("direction");
  if (text == "upstream") return {proxy::Direction::upstream};
  if (text == "downstream") return {proxy::Direction::downstream};
  return {proxy::Direction::upstream, proxy::Direction::downstream};
}

std::string detail(const ToxicFault& own, const Fault& fault) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : fault.parameters) {
    if (name != "toxicity" || value != "1") parts.push_back(name + " " + value);
  }
  return fmt::format("{} on {}{}{}", own.name, boost::algorithm::join(fault.legs, ", "),
                     parts.empty() ? "" : ": ", boost::algorithm::join(parts, ", "));
}

Status add_steps(const ToxicFault& own, const Fault& fault, const std::string& listener,
                 proxy::Proxy& proxy, FaultPlan& plan) {
  if (own.toxic.empty()) {
    plan.in_process.push_back(mode_step(proxy, listener, own.mode));
    return {};
  }
  ORDEAL_TRY_ASSIGN(proxy::Toxic toxic, toxic_of(own, fault));
  const std::vector<proxy::Direction> directions = directions_of(fault);
  for (const proxy::Direction direction : directions) {
    toxic.direction = direction;
    toxic.name = toxic_name(fault.name, direction);
    plan.in_process.push_back(toxic_step(proxy, listener, toxic, directions.size()));
  }
  return {};
}

template <std::size_t index>
Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  FaultPlan result{.detail = detail(kFaults[index], fault), .inject = {}, .undo = {}};
  for (const std::string& name : fault.legs) {
    ORDEAL_TRY_ASSIGN(const Leg* leg, find_leg(fault, battlefield, name));
    const std::vector<std::string> listeners = listeners_of(*leg);
    if (listeners.empty() || battlefield.proxy == nullptr) {
      return bad_input(
          "fault {}: leg {} does not lead through the fault proxy; set `legs: {{{}: "
          "proxy}}` in the campaign",
          fault.name, name, name);
    }
    for (const std::string& listener : listeners) {
      ORDEAL_TRY(add_steps(kFaults[index], fault, listener, *battlefield.proxy, result));
    }
  }
  return result;
}

template <std::size_t index>
FaultEntry entry() {
  const ToxicFault& own = kFaults[index];
  return {.name = own.name,
          .summary = own.summary,
          .need = FaultNeed::proxy,
          .options = own.toxic.empty() ? std::span<const OptionSpec>(kModeOptions)
                                       : std::span<const OptionSpec>(kToxicOptions),
          .draw = draw<index>,
          .plan = plan<index>,
          .strikes = Strikes::legs,
          .typical = {.to_see = own.to_see, .to_heal = milliseconds{50}}};
}

template <std::size_t... index>
std::vector<FaultEntry> entries(std::index_sequence<index...>) {
  return {entry<index>()...};
}

}  // namespace

std::vector<FaultEntry> leg_toxic_faults() {
  return entries(std::make_index_sequence<std::size(kFaults)>());
}

}  // namespace ordeal
