#include "nemesis/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "nemesis/host_choice.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr OptionSpec kSpecs[] = {
    {.name = "interval",
     .type = OptionType::duration,
     .default_value = "5s",
     .summary = "mean quiet time between faults; with overlap, between their starts",
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
    {.name = "overlap",
     .type = OptionType::boolean,
     .default_value = "false",
     .summary = "whether different faults may be active at once"},
};

// Places faults one after the other, in time since the end of the quiet start.
class Layout {
 public:
  explicit Layout(const ScheduleOptions& options) : options_(options) {}

  // Draws gap and duration of the next fault, and where it lies.
  ScheduledFault place(const std::string& name, Random& random) const {
    const auto mean = options_.interval.count();
    const milliseconds gap{random.between(mean / 2, mean + mean / 2)};
    const milliseconds duration{
        random.between(options_.duration_min.count(), options_.duration_max.count())};
    milliseconds start = placed_.empty() ? milliseconds{0} : from_ + gap;
    if (const auto free = free_from_.find(name); free != free_from_.end()) {
      start = std::max(start, free->second + gap);
    }
    return {.start = start, .duration = std::max(duration, milliseconds{1}), .fault = {}};
  }

  void add(ScheduledFault scheduled) {
    const milliseconds end = end_of(scheduled);
    from_ = options_.overlap ? scheduled.start : end;
    end_ = std::max(end_, end);
    free_from_[scheduled.fault.name] = end;
    placed_.push_back(std::move(scheduled));
  }

  // Shrinks all times so that the last fault ends within `window`.
  void shrink(milliseconds window) {
    if (end_ <= window) return;
    const auto scaled = [&](milliseconds time) { return time * window.count() / end_.count(); };
    for (ScheduledFault& scheduled : placed_) {
      const milliseconds end = scaled(end_of(scheduled));
      scheduled.start = scaled(scheduled.start);
      scheduled.duration = end - scheduled.start;
    }
    end_ = window;
  }

  static milliseconds end_of(const ScheduledFault& scheduled) {
    return scheduled.start + scheduled.duration;
  }

  std::vector<ScheduledFault> finish(milliseconds quiet_start) && {
    for (ScheduledFault& scheduled : placed_) scheduled.start += quiet_start;
    std::stable_sort(placed_.begin(), placed_.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
    return std::move(placed_);
  }

 private:
  const ScheduleOptions& options_;
  std::vector<ScheduledFault> placed_;
  milliseconds from_{0};  // gaps count from here
  milliseconds end_{0};   // of the last fault
  std::map<std::string, milliseconds> free_from_;
};

// Each fault of the schedule has a generator of its own, so that what one draws moves no other.
Random random_of(const Random& random, std::size_t number) {
  return random.derive(fmt::format("fault {}", number));
}

ScheduledFault next_fault(const Layout& layout, const FaultChoice& choice,
                          const std::vector<std::string>& hosts, Random random) {
  ScheduledFault scheduled = layout.place(std::string(choice.entry->name), random);
  scheduled.fault = choice.entry->draw(choice.options, hosts, random);
  return scheduled;
}

std::vector<std::size_t> first_sweep(std::size_t faults, const Random& random) {
  std::vector<std::size_t> order(faults);
  for (std::size_t i = 0; i < faults; ++i) order[i] = i;
  Random own = random.derive("first sweep");
  return shuffled(std::move(order), own);
}

}  // namespace

std::span<const OptionSpec> schedule_option_specs() { return kSpecs; }

Result<ScheduleOptions> schedule_options(const Options& options) {
  const ScheduleOptions result{.interval = options.duration("interval"),
                               .duration_min = options.duration("duration-min"),
                               .duration_max = options.duration("duration-max"),
                               .quiet_start = options.duration("quiet-start"),
                               .quiet_end = options.duration("quiet-end"),
                               .overlap = options.boolean("overlap")};
  if (result.duration_min > result.duration_max) {
    return bad_input("schedule: duration-min ({}) is longer than duration-max ({})",
                     format_duration(result.duration_min), format_duration(result.duration_max));
  }
  return result;
}

std::vector<ScheduledFault> make_schedule(const ScheduleOptions& options,
                                          std::span<const FaultChoice> faults,
                                          const std::vector<std::string>& hosts, milliseconds chaos,
                                          const Random& random) {
  if (faults.empty() || hosts.empty() || chaos <= milliseconds{0}) return {};
  const milliseconds quiet_start = std::min(options.quiet_start, chaos / 5);
  const milliseconds window = chaos - quiet_start - std::min(options.quiet_end, chaos / 5);
  Layout layout(options);
  std::size_t number = 0;
  for (const std::size_t which : first_sweep(faults.size(), random)) {
    layout.add(next_fault(layout, faults[which], hosts, random_of(random, number++)));
  }
  layout.shrink(window);
  while (true) {
    Random own = random_of(random, number++);
    const FaultChoice& choice = faults[own.below(faults.size())];
    ScheduledFault scheduled = next_fault(layout, choice, hosts, own.derive("draw"));
    if (Layout::end_of(scheduled) > window) break;
    layout.add(std::move(scheduled));
  }
  return std::move(layout).finish(quiet_start);
}

std::string describe(const ScheduledFault& scheduled) {
  const auto seconds = [](milliseconds time) { return static_cast<double>(time.count()) / 1000; };
  std::string text =
      fmt::format("{:.3f}s +{:.3f}s {} {}", seconds(scheduled.start), seconds(scheduled.duration),
                  scheduled.fault.name, fmt::join(scheduled.fault.hosts, ","));
  for (const auto& [name, value] : scheduled.fault.parameters) {
    text += fmt::format(" {}={}", name, value);
  }
  return text;
}

}  // namespace ordeal
