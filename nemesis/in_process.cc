#include "nemesis/in_process.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

#include "history/operation.h"
#include "nemesis/wait.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLookAgain{50};

}  // namespace

Result<Seen> look(const std::vector<InProcess>& steps, steady_clock::time_point deadline) {
  std::vector<std::string> seen;
  std::vector<std::string> unseen;
  std::string direction;
  for (const InProcess& step : steps) {
    const auto looked = step.effect(deadline);
    (looked ? seen : unseen).push_back(looked ? *looked : looked.error().message);
    if (looked) direction = both_directions(direction, step.direction);
  }
  const bool none = seen.empty();
  seen.insert(seen.end(), unseen.begin(), unseen.end());
  std::string text = boost::algorithm::join(seen, "; ");
  if (none && !steps.empty()) return surroundings_error("{}", text);
  return Seen{std::move(text), std::move(direction)};
}

Result<Seen> await_effect(const std::vector<InProcess>& steps, steady_clock::time_point deadline,
                          std::stop_token stop) {
  while (true) {
    auto looked = look(steps, deadline);
    if (looked || steady_clock::now() > deadline) return looked;
    const auto again = std::min(steady_clock::now() + kLookAgain, deadline + milliseconds{1});
    if (!sleep_until(again, stop)) return stopped();
  }
}

}  // namespace ordeal
