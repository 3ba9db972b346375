#include "remote/ssh_host.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "remote/ssh_session.h"

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kSessionsMax = 16;
// sshd drops connections at random once 10 of them have not logged in yet (MaxStartups).
constexpr int kConnectingMax = 4;
constexpr milliseconds kTransferTimeout{60'000};
constexpr milliseconds kConnectTimeoutMax{10'000};

// Sessions of one host; each is lent to one thread at a time.
class SessionPool {
 public:
  explicit SessionPool(const HostSpec& spec) : spec_(spec) {}

  // An idle session, or a new one; waits where there are as many as there may be.
  Result<std::unique_ptr<SshSession>> acquire(Patience patience, bool fresh) {
    std::unique_lock lock(mutex_);
    const auto may_go_on = [&] {
      return (!fresh && !idle_.empty()) || (open_ < kSessionsMax && connecting_ < kConnectingMax);
    };
    if (fresh) forget_idle();
    if (!condition_.wait_until(lock, patience.stop, patience.deadline, may_go_on)) {
      if (patience.stop.stop_requested()) return stopped();
      return surroundings_error("{}: all {} connections were busy until the time-out",
                                describe(spec_), kSessionsMax);
    }
    if (auto session = fresh ? nullptr : take_idle()) return session;
    ++open_;
    ++connecting_;
    lock.unlock();
    patience.deadline = std::min(patience.deadline, Clock::now() + kConnectTimeoutMax);
    auto session = SshSession::connect(spec_, patience);
    lock.lock();
    --connecting_;
    if (!session) --open_;
    condition_.notify_all();
    return session;
  }

  void give_back(std::unique_ptr<SshSession> session) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(session));
    condition_.notify_one();
  }

  void discard(std::unique_ptr<SshSession> session) {
    session.reset();
    const std::scoped_lock lock(mutex_);
    --open_;
    condition_.notify_one();
  }

 private:
  // The one used last, since its connection is the surest to be alive; nullptr where none is.
  std::unique_ptr<SshSession> take_idle() {
    while (!idle_.empty()) {
      auto session = std::move(idle_.back());
      idle_.pop_back();
      if (session->alive()) return session;
      --open_;
    }
    return nullptr;
  }

  void forget_idle() {
    open_ -= static_cast<int>(idle_.size());
    idle_.clear();
  }

  const HostSpec spec_;
  std::mutex mutex_;
  std::condition_variable_any condition_;
  std::vector<std::unique_ptr<SshSession>> idle_;
  int open_ = 0;  // idle, lent or connecting
  int connecting_ = 0;
};

// As `user` through sudo where the login user is not root, since only root can change the user
// itself.
Command as_seen_by(const HostSpec& spec, Command command) {
  if (command.user == spec.user) command.user.clear();
  if (command.user.empty() || spec.user == "root") return command;
  std::vector<std::string> arguments{"sudo", "-n", "-u", command.user, "--", "env", "-C", "/"};
  for (const auto& [name, value] : command.environment) arguments.push_back(name + "=" + value);
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  return {std::move(arguments), std::move(command.standard_input), {}, {}};
}

class SshHost : public Host {
 public:
  SshHost(HostSpec spec, HostAbilities abilities)
      : spec_(std::move(spec)), abilities_(abilities), pool_(spec_) {}

  const HostSpec& spec() const override { return spec_; }
  const HostAbilities& abilities() const override { return abilities_; }

  Status preflight(milliseconds timeout) override {
    const Patience patience{Clock::now() + timeout, {}};
    auto output = run_on({{"true"}, {}, {}, {}}, patience, timeout, true);
    if (!output) return tl::unexpected(output.error());
    if (output->exit_status == 0) return {};
    return surroundings_error(
        "{}: running a command failed: `true` ended with exit status {}; check "
        "the user's login shell",
        describe(spec_), output->exit_status);
  }

  Result<CommandOutput> run(const Command& command, milliseconds timeout,
                            std::stop_token stop) override {
    const Patience patience{Clock::now() + timeout, std::move(stop)};
    return run_on(command, patience, timeout, false);
  }

  Status upload(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return transfer([&](SshSession& session, const Patience& patience) {
      return session.upload(from, to, patience);
    });
  }

  Status download(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return transfer([&](SshSession& session, const Patience& patience) {
      return session.download(from, to, patience);
    });
  }

 private:
  // On a connection that is there already, unless `fresh_only`, then on a fresh one.
  Result<CommandOutput> run_on(const Command& command, const Patience& patience,
                               milliseconds timeout, bool fresh_only) {
    const Command seen = as_seen_by(spec_, command);
    const std::string line = shell_line(seen);
    if (line.find('\0') != std::string::npos) {
      return bad_input("{}: an argument contains a zero byte", named(command));
    }
    for (const bool fresh : {false, true}) {
      if (fresh_only && !fresh) continue;
      ORDEAL_TRY_ASSIGN(auto session, pool_.acquire(patience, fresh));
      auto output = session->exec(line, seen.standard_input, patience);
      if (output) {
        pool_.give_back(std::move(session));
        return *std::move(output);
      }
      pool_.discard(std::move(session));
      if (output.error().sent || fresh || patience.stop.stop_requested()) {
        return failure(command, output.error(), patience, timeout);
      }
    }
    return internal_error("unreachable");
  }

  Status transfer(const std::function<Status(SshSession&, const Patience&)>& step) {
    const Patience patience{Clock::now() + kTransferTimeout, {}};
    ORDEAL_TRY_ASSIGN(auto session, pool_.acquire(patience, false));
    Status result = step(*session, patience);
    if (result) {
      pool_.give_back(std::move(session));
    } else {
      pool_.discard(std::move(session));
    }
    return result;
  }

  tl::unexpected<Error> failure(const Command& command, const ExecFailure& why,
                                const Patience& patience, milliseconds timeout) const {
    if (why.error.kind == ErrorKind::stopped) return stopped();
    if (Clock::now() >= patience.deadline) {
      return surroundings_error(
          "{}: {} did not end within {} ms, and was killed as far as the host "
          "could be reached",
          describe(spec_), named(command), timeout.count());
    }
    if (!why.sent)
      return surroundings_error("{}; {} did not run", why.error.message, named(command));
    return surroundings_error("{}; whether {} took effect is not known", why.error.message,
                              named(command));
  }

  const HostSpec spec_;
  const HostAbilities abilities_;
  SessionPool pool_;
};

}  // namespace

std::unique_ptr<Host> make_ssh_host(HostSpec spec, HostAbilities abilities) {
  return std::make_unique<SshHost>(std::move(spec), abilities);
}

}  // namespace ordeal
