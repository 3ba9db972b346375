#include "nemesis/disruptor.h"

#include <queue>
#include <vector>

#include "nemesis/wait.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr int kHealAttempts = 5;
constexpr milliseconds kHealAgainAfter{1'000};

struct Healing {
  milliseconds due{0};
  FaultId id;
  int attempt = 1;
};

class Disruptor {
 public:
  Disruptor(FaultEngine& engine, std::span<const ScheduledFault> schedule)
      : engine_(engine), schedule_(schedule) {}

  Status run(const WaitUntil& wait_until, std::stop_token stop) {
    while (!schedule_.empty() || !healings_.empty()) {
      const bool heal_first = healing_is_next();
      const milliseconds due = heal_first ? healings_.top().due : schedule_.front().start;
      if (!wait_until(due, stop)) return stopped();
      if (heal_first) {
        heal_next(stop);
      } else {
        inject_next(stop);
      }
    }
    return first_failure_;
  }

  std::size_t left() const { return schedule_.size(); }

 private:
  // At the same moment, healing comes first: the next fault may be the same one.
  bool healing_is_next() const {
    if (schedule_.empty()) return true;
    return !healings_.empty() && healings_.top().due <= schedule_.front().start;
  }

  void inject_next(std::stop_token stop) {
    const ScheduledFault& next = schedule_.front();
    schedule_ = schedule_.subspan(1);
    const auto id = engine_.inject(next.fault, next.duration, stop);
    if (id) healings_.push({.due = next.start + next.duration, .id = *id});
  }

  void heal_next(std::stop_token stop) {
    Healing healing = healings_.top();
    healings_.pop();
    const Status healed = engine_.heal(healing.id, stop);
    if (healed) return;
    // The record has each failure; only one that lasts is the schedule's.
    if (++healing.attempt > kHealAttempts) return note(healed.error());
    healing.due += kHealAgainAfter;
    healings_.push(healing);
  }

  void note(const Error& error) {
    if (first_failure_) first_failure_ = tl::unexpected(error);
  }

  struct Later {
    bool operator()(const Healing& a, const Healing& b) const { return a.due > b.due; }
  };

  FaultEngine& engine_;
  std::span<const ScheduledFault> schedule_;  // what is left
  std::priority_queue<Healing, std::vector<Healing>, Later> healings_;
  Status first_failure_;
};

}  // namespace

WaitUntil wait_on_steady_clock(std::chrono::steady_clock::time_point chaos_start) {
  return [chaos_start](milliseconds since_start, std::stop_token stop) {
    return sleep_until(chaos_start + since_start, stop);
  };
}

Status run_schedule(FaultEngine& engine, std::span<const ScheduledFault> schedule,
                    const WaitUntil& wait_until, std::stop_token stop, std::size_t* begun) {
  Disruptor disruptor(engine, schedule);
  Status done = disruptor.run(wait_until, stop);
  if (begun != nullptr) *begun = schedule.size() - disruptor.left();
  return done;
}

}  // namespace ordeal
