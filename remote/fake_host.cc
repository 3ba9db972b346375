#include "remote/fake_host.h"

namespace ordeal {

FakeHost::FakeHost(HostSpec spec, HostAbilities abilities)
    : spec_(std::move(spec)), abilities_(abilities) {}

Status FakeHost::reach() const {
  if (unreachable && unreachable()) return surroundings_error("host {} is unreachable", name());
  return {};
}

Status FakeHost::preflight(std::chrono::milliseconds) { return reach(); }

Result<CommandOutput> FakeHost::run(const Command& command, std::chrono::milliseconds,
                                    std::stop_token stop) {
  if (stop.stop_requested()) return stopped();
  ORDEAL_TRY(reach());
  {
    const std::scoped_lock lock(mutex_);
    ran.push_back(command);
  }
  return answer ? answer(command) : CommandOutput{};
}

Status FakeHost::upload(const std::filesystem::path& from, const std::filesystem::path& to) {
  ORDEAL_TRY(reach());
  const std::scoped_lock lock(mutex_);
  uploaded.emplace_back(from, to);
  return {};
}

Status FakeHost::download(const std::filesystem::path& from, const std::filesystem::path& to) {
  ORDEAL_TRY(reach());
  const std::scoped_lock lock(mutex_);
  downloaded.emplace_back(from, to);
  return {};
}

}  // namespace ordeal
