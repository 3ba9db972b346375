// A host for unit tests: records the commands that it was asked to run, and answers them from a
// function. Uploads and downloads are recorded, and succeed.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "remote/host.h"

namespace ordeal {

class FakeHost : public Host {
 public:
  using Transfer = std::pair<std::filesystem::path, std::filesystem::path>;  // from, to

  explicit FakeHost(HostSpec spec, HostAbilities abilities = {});

  const HostSpec& spec() const override { return spec_; }
  const HostAbilities& abilities() const override { return abilities_; }
  Status preflight(std::chrono::milliseconds timeout) override;
  Result<CommandOutput> run(const Command& command, std::chrono::milliseconds timeout,
                            std::stop_token stop) override;
  Status upload(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Status download(const std::filesystem::path& from, const std::filesystem::path& to) override;

  // What a command answers; by default exit status 0 and no output. Called without a lock.
  std::function<CommandOutput(const Command&)> answer;
  // When set and true, every member fails as an unreachable host does.
  std::function<bool()> unreachable;

  // Read these once no thread uses the host any more.
  std::vector<Command> ran;
  std::vector<Transfer> uploaded;
  std::vector<Transfer> downloaded;

 private:
  Status reach() const;

  HostSpec spec_;
  HostAbilities abilities_;
  std::mutex mutex_;
};

}  // namespace ordeal
