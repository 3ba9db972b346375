#include "remote/local_host.h"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "remote/process.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

Status copy(const std::string& host, const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) return {};
  return surroundings_error("host {}: cannot copy {} to {}: {}", host, from.string(), to.string(),
                            error.message());
}

class LocalHost : public Host {
 public:
  LocalHost(HostSpec spec, HostAbilities abilities)
      : spec_(std::move(spec)), abilities_(abilities) {}

  const HostSpec& spec() const override { return spec_; }
  const HostAbilities& abilities() const override { return abilities_; }

  Status preflight(std::chrono::milliseconds) override {
    if (fs::is_directory(spec_.directory) && access(spec_.directory.c_str(), W_OK) == 0) return {};
    return surroundings_error("host {}: its directory {} is missing or cannot be written", name(),
                              spec_.directory.string());
  }

  Result<CommandOutput> run(const Command& command, std::chrono::milliseconds timeout,
                            std::stop_token stop) override {
    ORDEAL_TRY(check(command));
    Command own = command;
    if (own.user == spec_.user) own.user.clear();
    own.environment.emplace(kHostDirectoryVariable, spec_.directory.string());
    auto output = run_process({{"/bin/sh", "-c", shell_line(own)}, own.standard_input, {}}, timeout,
                              std::move(stop));
    if (output || output.error().kind == ErrorKind::stopped) return output;
    return surroundings_error("on host {}, {} failed: {}", name(), named(command),
                              output.error().message);
  }

  Status upload(const fs::path& from, const fs::path& to) override {
    return copy(name(), from, to);
  }
  Status download(const fs::path& from, const fs::path& to) override {
    return copy(name(), from, to);
  }

 private:
  Status check(const Command& command) const {
    if (command.user.empty() || command.user == spec_.user || geteuid() == 0) return {};
    return surroundings_error(
        "on host {}, {} cannot run as user {}: this process is user {}; use "
        "that user, or run as root",
        name(), named(command), command.user, spec_.user);
  }

  const HostSpec spec_;
  const HostAbilities abilities_;
};

}  // namespace

std::unique_ptr<Host> make_local_host(HostSpec spec, HostAbilities abilities) {
  return std::make_unique<LocalHost>(std::move(spec), abilities);
}

}  // namespace ordeal
