#include "nemesis/disruptor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nemesis/wait.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr int kHealAttempts = 5;
constexpr milliseconds kHealAgainAfter{1'000};
constexpr milliseconds kFar{std::chrono::hours(24 * 365)};

// A fault that is active, and when it is to be healed.
struct Held {
  milliseconds due{0};
  FaultId id;
  const Fault* fault;
  int attempt = 1;
};

// How an injection or a healing ended.
struct Outcome {
  std::optional<Held> held{};
  Status failure{};     // of the last attempt to heal
  milliseconds end{0};  // since chaos began
};

struct Running {
  std::size_t number;
  const Fault* fault;
  std::future<Outcome> outcome;
};

// Outages that have a cap, from the first injection until the last of their faults is healed.
class Outages {
 public:
  explicit Outages(const OutageCaps& caps) : caps_(caps) {}

  // By when all outages that the fault is part of, or would be if it began at `begin`, have ended.
  milliseconds end_by(const Fault& fault, milliseconds begin) const {
    milliseconds end = kFar;
    for_each_cap(fault, [&](const std::string& name, milliseconds cap) {
      const auto open = open_.find(name);
      end = std::min(end, (open == open_.end() ? begin : open->second.begin) + cap);
    });
    return end;
  }

  void begin(const Fault& fault, milliseconds now) {
    for_each_cap(fault, [&](const std::string& name, milliseconds) {
      ++open_.try_emplace(name, Open{now}).first->second.faults;
    });
  }

  void end(const Fault& fault) {
    for_each_cap(fault, [&](const std::string& name, milliseconds) {
      const auto open = open_.find(name);
      if (--open->second.faults == 0) open_.erase(open);
    });
  }

 private:
  struct Open {
    milliseconds begin;
    std::size_t faults = 0;
  };

  template <class Use>
  void for_each_cap(const Fault& fault, Use use) const {
    for (const auto& [name, cap] : caps_) {
      const bool is_leg = std::find(fault.legs.begin(), fault.legs.end(), name) != fault.legs.end();
      if (is_leg || name == fault.name) use(name, cap);
    }
  }

  const OutageCaps& caps_;
  std::map<std::string, Open> open_;
};

class Disruptor {
 public:
  Disruptor(FaultEngine& engine, std::span<const ScheduledFault> schedule,
            const DisruptorSettings& settings, std::stop_token stop)
      : engine_(engine), schedule_(schedule), settings_(settings), stop_(std::move(stop)) {}

  Status run() {
    const std::stop_callback on_stop(stop_, [this] { wake(); });
    while (!stop_.stop_requested()) {
      const std::stop_token woken = collect();
      if (schedule_.empty() && held_.empty() && running_.empty()) return first_failure_;
      act(woken);
    }
    for (Running& each : running_) conclude(*each.fault, each.outcome.get());
    return stopped();
  }

  std::size_t left() const { return schedule_.size(); }

 private:
  // ---- threads

  template <class Task>
  void start(const Fault& fault, Task task) {
    const std::size_t number = ++started_;
    auto run = [this, number, task = std::move(task)] {
      const Ending ending{*this, number};  // also where the task throws
      Outcome outcome = task();
      outcome.end = settings_.clock.now();
      return outcome;
    };
    running_.push_back({number, &fault, std::async(settings_.launch, std::move(run))});
    if (settings_.launch == std::launch::deferred) running_.back().outcome.wait();
  }

  struct Ending {
    Disruptor& disruptor;
    std::size_t number;
    ~Ending() { disruptor.ended(number); }
  };

  void ended(std::size_t number) {
    const std::lock_guard lock(waking_);
    ended_.push_back(number);
    awake_.request_stop();
  }

  void wake() {
    const std::lock_guard lock(waking_);
    awake_.request_stop();
  }

  // Takes in what has ended; the token tells when there is more, or a stop.
  std::stop_token collect() {
    std::vector<std::size_t> numbers;
    std::stop_token woken;
    {
      const std::lock_guard lock(waking_);
      numbers = std::exchange(ended_, {});
      awake_ = {};
      if (stop_.stop_requested()) awake_.request_stop();
      woken = awake_.get_token();
    }
    for (const std::size_t number : numbers) {
      const auto running = std::find_if(running_.begin(), running_.end(),
                                        [&](const Running& each) { return each.number == number; });
      conclude(*running->fault, running->outcome.get());
      running_.erase(running);
    }
    return woken;
  }

  void conclude(const Fault& fault, const Outcome& outcome) {
    if (outcome.held) {
      held_.push_back(*outcome.held);
    } else {
      healed_ = std::max(healed_, outcome.end);
      outages_.end(fault);
    }
    if (!outcome.failure && first_failure_) first_failure_ = outcome.failure;
  }

  // ---- what is next

  // Healing comes first: the next fault may be the same one.
  void act(const std::stop_token& woken) {
    const auto next = std::min_element(held_.begin(), held_.end(),
                                       [](const Held& a, const Held& b) { return a.due < b.due; });
    const milliseconds heal = next == held_.end() ? kFar : next->due;
    const milliseconds inject = injection_due();
    const milliseconds due = std::min(heal, inject);
    if (settings_.clock.now() < due && !settings_.clock.wait_until(due, woken)) return;
    if (heal <= inject) {
      heal_next(next);
    } else {
      inject_next();
    }
  }

  // What is planned to begin without other faults begins so. What joins another fault does so as
  // much later as that one was late.
  milliseconds injection_due() const {
    if (schedule_.empty() || is_active(schedule_.front().fault.name)) return kFar;
    const milliseconds start = schedule_.front().start;
    const milliseconds quiet = start - planned_end_;
    if (quiet <= milliseconds{0}) return could_be_seen(start + late_) ? start + late_ : kFar;
    if (!running_.empty() || !held_.empty()) return kFar;
    return std::max(start, healed_ + std::min(quiet, settings_.recovery));
  }

  // The next fault, if it began then, before its cap ends it.
  bool could_be_seen(milliseconds start) const {
    if (running_.empty() && held_.empty()) return true;
    const Fault& fault = schedule_.front().fault;
    const milliseconds begin = std::max(start, settings_.clock.now());
    const PlannedTimes times = planned_times({begin, milliseconds{1}, fault});
    return times.healed <= outages_.end_by(fault, begin);
  }

  bool is_active(const std::string& fault) const {
    const auto same = [&](const auto& each) { return each.fault->name == fault; };
    return std::any_of(running_.begin(), running_.end(), same) ||
           std::any_of(held_.begin(), held_.end(), same);
  }

  void inject_next() {
    const ScheduledFault& next = schedule_.front();
    schedule_ = schedule_.subspan(1);
    planned_end_ = std::max(planned_end_, planned_times(next).healed);
    const milliseconds begin = settings_.clock.now();
    late_ = std::max(begin - next.start, milliseconds{0});
    outages_.begin(next.fault, begin);
    const PlannedTimes times = planned_times(next);
    const milliseconds heal_by = outages_.end_by(next.fault, begin) - (times.healed - times.end);
    start(next.fault, [this, &next, heal_by] { return inject(next, heal_by); });
  }

  Outcome inject(const ScheduledFault& next, milliseconds heal_by) {
    const auto id =
        engine_.inject(next.fault, next.duration, stop_, heal_by - settings_.clock.now());
    if (!id) return {};
    const milliseconds due = std::min(settings_.clock.now() + next.duration, heal_by);
    return {.held = Held{.due = due, .id = *id, .fault = &next.fault}};
  }

  void heal_next(std::vector<Held>::iterator next) {
    const Held held = std::move(*next);
    held_.erase(next);
    start(*held.fault, [this, held] { return heal(held); });
  }

  // The record has each failure; only one that lasts is the schedule's.
  Outcome heal(Held held) {
    const Status healed = engine_.heal(held.id, stop_);
    if (healed) return {};
    if (++held.attempt > kHealAttempts) return {.failure = healed};
    held.due = settings_.clock.now() + kHealAgainAfter;
    return {.held = std::move(held)};
  }

  FaultEngine& engine_;
  std::span<const ScheduledFault> schedule_;  // what is left
  const DisruptorSettings& settings_;
  const std::stop_token stop_;

  std::mutex waking_;       // guards the next two
  std::stop_source awake_;  // what the loop waits with
  std::vector<std::size_t> ended_;

  Outages outages_{settings_.outage_max};
  std::vector<Held> held_;
  milliseconds planned_end_ = -kFar;  // of what was injected
  milliseconds healed_ = -kFar;       // the last one that ended
  milliseconds late_{0};              // the last one that began
  Status first_failure_;
  std::size_t started_ = 0;
  std::vector<Running> running_;  // the last member, since its tasks use the others
};

}  // namespace

ChaosClock steady_chaos_clock(std::chrono::steady_clock::time_point chaos_start) {
  return {.now =
              [chaos_start] {
                return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() -
                                                                chaos_start);
              },
          .wait_until =
              [chaos_start](milliseconds since_start, std::stop_token stop) {
                return sleep_until(chaos_start + since_start, stop);
              }};
}

Status run_schedule(FaultEngine& engine, std::span<const ScheduledFault> schedule,
                    const DisruptorSettings& settings, std::stop_token stop, std::size_t* begun) {
  Disruptor disruptor(engine, schedule, settings, std::move(stop));
  Status done = disruptor.run();
  if (begun != nullptr) *begun = schedule.size() - disruptor.left();
  return done;
}

}  // namespace ordeal
