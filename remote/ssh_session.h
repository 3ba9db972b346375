// One SSH connection (libssh), logged in and with its host key checked. Used by one thread at a
// time. Internal to remote/: everything else uses make_ssh_host().
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "remote/host.h"
#include "remote/jump.h"

struct ssh_session_struct;
struct ssh_channel_struct;

namespace ordeal {

// How long a step may take, and who may end it early.
struct Patience {
  std::chrono::steady_clock::time_point deadline;
  std::stop_token stop;
};

// "host n1 (root@10.0.0.1:22, key /root/.ssh/id)": what every message begins with.
std::string describe(const HostSpec& spec);

struct ExecFailure {
  Error error;
  bool sent = false;  // the host may have run the command
};

class SshSession {
 public:
  // Resolves, connects, checks the host key and logs in. The error names the step that failed.
  static Result<std::unique_ptr<SshSession>> connect(const HostSpec& spec,
                                                     const Patience& patience);
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  // False where the connection is known to be lost.
  bool alive() const;

  // Runs `line` in the login user's shell. After a failure the session is not to be used again.
  tl::expected<CommandOutput, ExecFailure> exec(const std::string& line, const std::string& input,
                                                const Patience& patience);

  // By sftp; the session is not to be used again after a failure.
  Status upload(const std::filesystem::path& from, const std::filesystem::path& to,
                const Patience& patience);
  Status download(const std::filesystem::path& from, const std::filesystem::path& to,
                  const Patience& patience);

 private:
  explicit SshSession(const HostSpec& spec);

  Status configure();
  Result<UniqueFd> reach(const Patience& patience);
  Status handshake(const Patience& patience);
  Status check_host_key();
  Status login(const Patience& patience);
  Status login_by_key(const Patience& patience);
  Status login_by_agent(const Patience& patience);
  // Waits until the connection can go on; fails when patience ends or the connection is lost.
  Status wait(const Patience& patience) const;
  Status lost(std::string_view step) const;
  // Shuts the connection down when patience ends, for calls of libssh that know no time-out.
  class Watchdog;
  friend class Exec;

  HostSpec spec_;
  Jump jump_;
  ssh_session_struct* session_ = nullptr;
};

}  // namespace ordeal
