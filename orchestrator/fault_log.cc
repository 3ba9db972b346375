#include "orchestrator/fault_log.h"

#include <fmt/format.h>

namespace ordeal {
namespace {

std::string what_happened(Phase phase, const FaultEvent& event, const std::string& note) {
  const bool inject = event.action == FaultAction::inject;
  if (phase == Phase::invoke) {
    return inject ? "begins: " + event.detail : "is being healed";
  }
  if (!note.empty()) return (inject ? "did not happen: " : "is not healed: ") + note;
  const std::string seen = event.effect.empty() ? "" : ": " + event.effect;
  return (inject ? "is in effect" : "is healed") + seen;
}

}  // namespace

std::string fault_words(std::chrono::nanoseconds time, Phase phase, const FaultEvent& event,
                        const std::string& note) {
  return fmt::format("{:>9.3f} s  {} {}", std::chrono::duration<double>(time).count(), event.fault,
                     what_happened(phase, event, note));
}

void FaultLog::add(std::chrono::nanoseconds time, Phase phase, const FaultEvent& event,
                   const std::string& note) {
  const std::lock_guard lock(mutex_);
  file_ << fault_words(time, phase, event, note) << std::endl;
}

}  // namespace ordeal
