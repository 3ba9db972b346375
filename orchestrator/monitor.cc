#include "orchestrator/monitor.h"

#include <fmt/ranges.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTick{250};
constexpr milliseconds kPatience{5};  // between looks at workers that are about to end

double per_second(std::uint64_t before, std::uint64_t now, milliseconds between) {
  return 1000.0 * static_cast<double>(now - before) /
         static_cast<double>(std::max<std::int64_t>(between.count(), 1));
}

// Sleeps until `until` or a stop.
void sleep_until(Monitor::Clock::time_point until, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_until(lock, stop, until, [] { return false; });
}

}  // namespace

Monitor::Monitor(Console& console, const Recorder& recorder, const FaultEngine& engine,
                 const Workers& workers, milliseconds duration, milliseconds stall)
    : console_(console),
      recorder_(recorder),
      engine_(engine),
      workers_(workers),
      duration_(duration),
      stall_(stall) {}

Monitor::~Monitor() { console_.status(""); }

Status Monitor::watch(Clock::time_point start, std::stop_token stop) {
  RecorderCounts before = recorder_.counts();
  auto last = start;
  while (!stop.stop_requested() && Clock::now() < start + duration_) {
    sleep_until(std::min(last + kTick, start + duration_), stop);
    ORDEAL_TRY(recorder_.status());
    const auto now = Clock::now();
    const auto elapsed = std::chrono::duration_cast<milliseconds>(now - start);
    const RecorderCounts counts = recorder_.counts();
    console_.status(line(elapsed, duration_, before, counts,
                         std::chrono::duration_cast<milliseconds>(now - last), engine_.active()));
    before = counts;
    last = now;
    dump_stall();
  }
  return {};
}

void Monitor::await_workers() {
  console_.status("waiting for the last operations");
  while (!workers_.finished()) {
    std::this_thread::sleep_for(kPatience);
    dump_stall();
  }
}

void Monitor::dump_stall() {
  const auto stalled = workers_.stalled(stall_);
  if (stalled.empty() || Clock::now() - last_dump_ < stall_) return;
  last_dump_ = Clock::now();
  for (const auto& each : stalled) console_.log().warn("{}", each);
  for (const auto& fault : engine_.active()) {
    console_.log().warn("active meanwhile: {} on {}: {}", fault.event.fault,
                        fault_place(fault.event), fault.event.detail);
  }
}

std::string Monitor::line(milliseconds elapsed, milliseconds duration, const RecorderCounts& before,
                          const RecorderCounts& now, milliseconds between,
                          const std::vector<ActiveFault>& active) {
  const auto rate = [&](Phase phase) {
    return per_second(before.of(phase), now.of(phase), between);
  };
  std::vector<std::string> faults;
  for (const auto& fault : active) {
    faults.push_back(fmt::format("{} on {}", fault.event.fault, fault_place(fault.event)));
  }
  return fmt::format("chaos {}/{} s  ok {:.0f}/s  fail {:.0f}/s  info {:.0f}/s  {}{}",
                     elapsed.count() / 1000, duration.count() / 1000, rate(Phase::ok),
                     rate(Phase::fail), rate(Phase::info),
                     faults.empty() ? "" : "active: ", fmt::join(faults, "; "));
}

}  // namespace ordeal
