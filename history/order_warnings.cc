#include "history/order_warnings.h"

#include <fmt/format.h>

#include <unordered_set>

namespace ordeal {
namespace {

struct Sign {
  std::size_t count = 0;
  Position first = kNoPosition;

  void seen(Position position) {
    if (count++ == 0) first = position;
  }
};

struct Signs {
  Sign orphans;   // completions without an open invocation
  Sign overlaps;  // invocations by a process whose last one is still open
  Sign indices;   // lower than the one before
  Sign times;
  std::size_t invocations = 0;  // of clients
};

// The nemesis is left out of pairing: Jepsen writes its invocations as :info, too.
Signs find_signs(const History& history) {
  Signs signs;
  std::unordered_set<std::int64_t> open_for_good;  // processes with an invocation never completed
  for (Position at = 0; at < history.size(); ++at) {
    const Event& event = history.event(at);
    if (at > 0 && event.index < history.event(at - 1).index) signs.indices.seen(at);
    if (at > 0 && event.time_ns < history.event(at - 1).time_ns) signs.times.seen(at);
    if (event.process == kNemesis) continue;
    const bool alone = event.partner == kNoPosition;
    if (event.phase != Phase::invoke) {
      if (alone) signs.orphans.seen(at);
      continue;
    }
    ++signs.invocations;
    // The builder pairs a completion with the last invocation, so one that another follows stays
    // alone.
    if (!open_for_good.empty() && open_for_good.erase(event.process.value) > 0) {
      signs.overlaps.seen(at);
    }
    if (alone) open_for_good.insert(event.process.value);
  }
  return signs;
}

}  // namespace

std::vector<std::string> order_warnings(const History& history, std::string_view name) {
  const Signs signs = find_signs(history);
  std::vector<std::string> warnings;
  const auto warn = [&](const Sign& sign, std::string_view what) {
    if (sign.count == 0) return;
    const Event& first = history.event(sign.first);
    warnings.push_back(fmt::format(
        "in the history {}, {} of {} operations {}, so its real-time order may be "
        "wrong; the first is operation {} of the file (index {}, process {})",
        name, sign.count, history.size(), what, sign.first + 1, first.index, first.process.value));
  };
  if (signs.invocations == 0 && signs.orphans.count > 1) {
    // As in histories of research checkers, and consistently so.
    warnings.push_back(
        fmt::format("the history {} has completions only, which says nothing of real time: "
                    "operations are ordered within their process only",
                    name));
  } else {
    warn(signs.orphans, "are completions without an open invocation");
  }
  warn(signs.overlaps, "were invoked by a process whose previous invocation was still open");
  warn(signs.indices, "have a lower index than the operation before");
  warn(signs.times, "have an earlier time than the operation before");
  return warnings;
}

}  // namespace ordeal
