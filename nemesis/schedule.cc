#include "nemesis/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>

#include "nemesis/scope.h"
#include "nemesis/sweep.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

Status check_duration(std::string_view /*name*/, const std::string& text) {
  if (const auto parsed = parse_duration(text); parsed && *parsed > milliseconds{0}) return {};
  return bad_input("expected a duration such as 5s");
}

constexpr OptionSpec kSpecs[] = {
    {.name = "interval",
     .type = OptionType::duration,
     .default_value = "5s",
     .summary = "mean quiet time between faults",
     .minimum = 1},
    {.name = "duration-min",
     .type = OptionType::duration,
     .default_value = "3s",
     .summary = "shortest time that a fault lasts",
     .minimum = 1},
    {.name = "duration-max",
     .type = OptionType::duration,
     .default_value = "10s",
     .summary = "longest time that a fault lasts",
     .minimum = 1},
    {.name = "quiet-start",
     .type = OptionType::duration,
     .default_value = "3s",
     .summary = "time without faults at the start of chaos; at most a fifth of it"},
    {.name = "quiet-end",
     .type = OptionType::duration,
     .default_value = "3s",
     .summary = "time without faults at the end of chaos; at most a fifth of it"},
    {.name = "recovery",
     .type = OptionType::duration,
     .default_value = "1s",
     .summary = "shortest time without faults after each episode of them"},
    {.name = "outage-max.*",
     .default_value = "",
     .summary = "longest time that a fault, or any fault of a leg, lasts: outage-max.kill, "
                "outage-max.client-db",
     .check = check_duration},
};

// Whether it would strike the leg if there were no other.
bool reaches(const FaultChoice& choice, const Leg& leg) {
  Random random(0);
  return !choice.entry->draw(choice.options, {.servers = {}, .legs = {leg}}, random).legs.empty();
}

std::vector<ScheduledFault> in_order(std::vector<ScheduledFault> scheduled) {
  std::stable_sort(scheduled.begin(), scheduled.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  return scheduled;
}

// Of the outage of the leg that a fault at `start` is part of.
milliseconds outage_begin(const std::string& leg, std::span<const ScheduledFault> before,
                          milliseconds start) {
  milliseconds begin = start;
  milliseconds end = milliseconds::min();
  for (const ScheduledFault& each : before) {
    const auto& legs = each.fault.legs;
    if (std::find(legs.begin(), legs.end(), leg) == legs.end()) continue;
    if (each.start >= end) begin = each.start;
    end = std::max(end, planned_times(each).healed);
  }
  return start < end ? begin : start;
}

class Maker {
 public:
  Maker(const ScheduleOptions& options, std::span<const FaultChoice> faults, const Terrain& terrain,
        milliseconds window, const Random& random)
      : options_(options), faults_(faults), terrain_(terrain), window_(window), random_(random) {}

  std::vector<ScheduledFault> make(milliseconds quiet_start) && {
    sweep();
    while (add_episode()) {
    }
    for (ScheduledFault& scheduled : placed_) scheduled.start += quiet_start;
    return in_order(std::move(placed_));
  }

 private:
  Random next_generator() { return random_.derive(fmt::format("fault {}", number_++)); }

  bool fits(const ScheduledFault& scheduled) const {
    return planned_times(scheduled).healed <= window_;
  }

  milliseconds draw_gap(Random& random) const {
    const auto mean = static_cast<std::int64_t>(static_cast<double>(options_.interval.count()) *
                                                options_.intensity.interval_factor);
    const milliseconds gap{random.between(mean / 2, mean + mean / 2)};
    return placed_.empty() ? milliseconds{0} : std::max(gap, options_.recovery);
  }

  // Within what an outage of the fault, or of a leg that others struck `before`, may last, which
  // includes that it is measured and healed. Where others struck it, no time may be left to hold
  // it.
  ScheduledFault capped(ScheduledFault scheduled,
                        std::span<const ScheduledFault> before = {}) const {
    if (const auto outage = capped_outage(options_.outage_max, before, scheduled)) {
      const milliseconds over = planned_times(scheduled).healed - (outage->begin + outage->cap);
      scheduled.duration -= std::max(over, milliseconds{0});
    }
    if (before.empty()) scheduled.duration = std::max(scheduled.duration, milliseconds{1});
    return scheduled;
  }

  ScheduledFault draw(const FaultChoice& choice, milliseconds start, Random& random) const {
    Fault fault = choice.entry->draw(choice.options, terrain_, random);
    const milliseconds duration{
        random.between(options_.duration_min.count(), options_.duration_max.count())};
    return capped({.start = start, .duration = duration, .fault = std::move(fault)});
  }

  void place(ScheduledFault scheduled) {
    end_ = std::max(end_, planned_times(scheduled).healed);
    placed_.push_back(std::move(scheduled));
  }

  // ---- the first sweep

  struct SweepStep {
    const FaultChoice* choice;
    const Leg* leg;  // nullptr: whatever the fault draws
  };

  // Each fault once; each leg once, by the fault whose turn it is.
  std::vector<SweepStep> sweep_steps() const {
    std::vector<SweepStep> steps;
    std::vector<const FaultChoice*> of_legs;
    for (const FaultChoice& choice : faults_) {
      if (choice.entry->strikes == Strikes::servers) steps.push_back({&choice, nullptr});
      if (choice.entry->strikes == Strikes::legs) of_legs.push_back(&choice);
    }
    std::set<const FaultChoice*> used;
    std::size_t turn = 0;
    for (const Leg& leg : terrain_.legs) {
      for (std::size_t tried = 0; tried < of_legs.size(); ++tried, ++turn) {
        const FaultChoice* choice = of_legs[turn % of_legs.size()];
        if (!reaches(*choice, leg)) continue;
        steps.push_back({choice, &leg});
        used.insert(choice);
        ++turn;
        break;
      }
    }
    for (const FaultChoice* choice : of_legs) {
      if (used.count(choice) == 0) steps.push_back({choice, nullptr});
    }
    return steps;
  }

  // For as short as faults are held at all: how long one lasts is for the episodes to vary.
  std::vector<ScheduledFault> drawn_sweep() {
    std::vector<ScheduledFault> drawn;
    Random order = random_.derive("first sweep");
    for (const SweepStep& step : shuffled(sweep_steps(), order)) {
      Random random = next_generator();
      Terrain terrain = terrain_;
      if (step.leg != nullptr) terrain.legs = {*step.leg};
      drawn.push_back(
          capped({.start = milliseconds{0},
                  .duration = options_.duration_min,
                  .fault = step.choice->entry->draw(step.choice->options, terrain, random)}));
    }
    return drawn;
  }

  void sweep() {
    placed_ = lay_out_sweep(drawn_sweep(), terrain_,
                            {.recovery = options_.recovery,
                             .at_once_max = options_.intensity.at_once_max,
                             .window = window_});
    end_ = last_healed(placed_);
  }

  // ---- episodes

  // A fault that may join is of another name, and rather of servers where the first one is of a
  // leg, and the other way round: a kill while a leg is cut finds what neither alone does.
  const FaultChoice* draw_companion(const std::vector<ScheduledFault>& episode,
                                    Random& random) const {
    const FaultChoice& first = *choice_of(episode.front().fault.name);
    std::set<std::string_view> names;
    for (const ScheduledFault& each : episode) names.insert(each.fault.name);
    std::vector<const FaultChoice*> any;
    std::vector<const FaultChoice*> other;
    for (const FaultChoice& choice : faults_) {
      if (names.count(choice.entry->name) != 0) continue;
      any.push_back(&choice);
      if (choice.entry->strikes != first.entry->strikes) other.push_back(&choice);
    }
    const bool kill_too = random.chance(0.5);
    const bool prefer_other = random.chance(0.75);
    const FaultChoice* kill = choice_of("kill");
    if (kill_too && kill != nullptr && first.entry->strikes == Strikes::legs &&
        names.count("kill") == 0) {
      return kill;
    }
    const auto& from = prefer_other && !other.empty() ? other : any;
    return from.empty() ? nullptr : from[random.below(from.size())];
  }

  const FaultChoice* choice_of(std::string_view name) const {
    for (const FaultChoice& choice : faults_) {
      if (choice.entry->name == name) return &choice;
    }
    return nullptr;
  }

  // Nothing where it would not end within the window.
  bool add_episode() {
    Random random = next_generator();
    const FaultChoice& choice = faults_[random.below(faults_.size())];
    const milliseconds start = end_ + draw_gap(random);
    std::vector<ScheduledFault> episode{draw(choice, start, random)};
    if (!fits(episode.front())) return false;
    add_companions(episode, random);
    episode = within_caps(in_order(std::move(episode)));
    add_kill_after_heal(episode, random);
    for (ScheduledFault& each : episode) {
      if (fits(each)) place(std::move(each));
    }
    return true;
  }

  void add_companions(std::vector<ScheduledFault>& episode, Random& random) const {
    while (episode.size() < options_.intensity.at_once_max &&
           random.chance(options_.intensity.overlap)) {
      const FaultChoice* choice = draw_companion(episode, random);
      if (choice == nullptr) return;
      const milliseconds later{random.between(0, episode.front().duration.count() / 2)};
      const milliseconds start = planned_times(episode.front()).seen + later;
      episode.push_back(draw(*choice, start, random));
    }
  }

  // Without those that join an outage of their leg so late that they could hardly be held.
  std::vector<ScheduledFault> within_caps(const std::vector<ScheduledFault>& episode) const {
    std::vector<ScheduledFault> kept;
    for (const ScheduledFault& each : episode) {
      ScheduledFault held = capped(each, kept);
      if (held.duration * 2 >= each.duration) kept.push_back(std::move(held));
    }
    return kept;
  }

  void add_kill_after_heal(std::vector<ScheduledFault>& episode, Random& random) const {
    const bool wanted = random.chance(options_.intensity.kill_after_heal);
    const FaultChoice* kill = choice_of("kill");
    const bool killed = std::any_of(episode.begin(), episode.end(),
                                    [](const auto& each) { return each.fault.name == "kill"; });
    if (!wanted || kill == nullptr || killed) return;
    const milliseconds soon{random.between(50, 500)};
    episode.push_back(draw(*kill, last_healed(episode) + soon, random));
  }

  const ScheduleOptions& options_;
  const std::span<const FaultChoice> faults_;
  const Terrain& terrain_;
  const milliseconds window_;
  const Random& random_;
  std::size_t number_ = 0;
  std::vector<ScheduledFault> placed_;
  milliseconds end_{0};  // when all that is placed is healed
};

}  // namespace

Intensity intensity(std::string_view complexity) {
  if (complexity == "low") {
    return {.interval_factor = 2, .overlap = 0, .at_once_max = 1, .kill_after_heal = 0.1};
  }
  if (complexity == "high") {
    return {.interval_factor = 0.5, .overlap = 0.6, .at_once_max = 3, .kill_after_heal = 0.4};
  }
  return {};
}

std::span<const OptionSpec> schedule_option_specs() { return kSpecs; }

Result<ScheduleOptions> schedule_options(const Options& options) {
  ScheduleOptions result{.interval = options.duration("interval"),
                         .duration_min = options.duration("duration-min"),
                         .duration_max = options.duration("duration-max"),
                         .quiet_start = options.duration("quiet-start"),
                         .quiet_end = options.duration("quiet-end"),
                         .recovery = options.duration("recovery")};
  if (result.duration_min > result.duration_max) {
    return bad_input("schedule: duration-min ({}) is longer than duration-max ({})",
                     format_duration(result.duration_min), format_duration(result.duration_max));
  }
  for (const auto& [name, text] : options.group("outage-max")) {
    result.outage_max[name] = parse_duration(text).value();
  }
  return result;
}

PlannedTimes planned_times(const ScheduledFault& scheduled) {
  const FaultEntry* entry = find_fault(scheduled.fault.name);
  const TypicalTimes typical = entry == nullptr ? TypicalTimes{} : entry->typical;
  const milliseconds seen = scheduled.start + typical.to_see;
  const milliseconds end = seen + scheduled.duration;
  return {.seen = seen, .end = end, .healed = end + typical.to_heal};
}

std::optional<CappedOutage> capped_outage(const OutageCaps& caps,
                                          std::span<const ScheduledFault> before,
                                          const ScheduledFault& scheduled) {
  std::optional<CappedOutage> first;
  const auto add = [&](const std::string& name, milliseconds begin) {
    const auto found = caps.find(name);
    if (found == caps.end()) return;
    if (first && first->begin + first->cap <= begin + found->second) return;
    first = {.name = name, .cap = found->second, .begin = begin};
  };
  add(scheduled.fault.name, scheduled.start);
  for (const std::string& leg : scheduled.fault.legs) {
    add(leg, outage_begin(leg, before, scheduled.start));
  }
  return first;
}

std::vector<ScheduledFault> make_schedule(const ScheduleOptions& options,
                                          std::span<const FaultChoice> faults,
                                          const Terrain& terrain, milliseconds chaos,
                                          const Random& random) {
  if (faults.empty() || chaos <= milliseconds{0}) return {};
  const milliseconds quiet_start = std::min(options.quiet_start, chaos / 5);
  const milliseconds window = chaos - quiet_start - std::min(options.quiet_end, chaos / 5);
  return Maker(options, faults, terrain, window, random).make(quiet_start);
}

std::vector<std::string> legs_in_reach(std::span<const FaultChoice> faults,
                                       const Terrain& terrain) {
  std::vector<std::string> names;
  for (const Leg& leg : terrain.legs) {
    const bool reached = std::any_of(faults.begin(), faults.end(), [&](const auto& choice) {
      return choice.entry->strikes == Strikes::legs && reaches(choice, leg);
    });
    if (reached) names.push_back(leg.name);
  }
  return names;
}

}  // namespace ordeal
