// SshSession::exec: one command on one channel.
//
// sshd refuses to pass signals on to the commands of root (session.c: "session signalling requires
// privilege separation"), and does not end a command whose channel is closed. So the remote shell
// first tells its process id, which sshd made the leader of a session, and a command that has to
// be ended is killed with its group over a second channel.
#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstring>
#include <optional>

#include "remote/ssh_session.h"

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kPidMark = "ordeal-pid ";
// sshd reports the exit before it has sent all output, but soon sends the rest. What is silent for
// longer is a daemon that holds the streams.
constexpr milliseconds kSilenceAfterExit{250};
constexpr milliseconds kKillPatience{300};

int signal_number(const char* name) {
  for (int number = 1; number < NSIG; ++number) {
    const char* known = sigabbrev_np(number);
    if (known != nullptr && std::strcmp(known, name) == 0) return number;
  }
  return 0;
}

}  // namespace

class Exec {
 public:
  Exec(SshSession& owner, const std::string& input)
      : owner_(owner), channel_(ssh_channel_new(owner.session_)), rest_(input) {
    ssh_callbacks_init(&callbacks_);
    callbacks_.userdata = this;
    callbacks_.channel_exit_status_function = &Exec::on_exit_status;
    callbacks_.channel_exit_signal_function = &Exec::on_exit_signal;
    if (channel_ != nullptr) ssh_set_channel_callbacks(channel_, &callbacks_);
  }
  ~Exec() {
    if (channel_ == nullptr) return;
    ssh_remove_channel_callbacks(channel_, &callbacks_);
    ssh_channel_free(channel_);
  }
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  Status open(const Patience& patience) {
    if (channel_ == nullptr) return owner_.lost("opening a channel");
    int result = SSH_AGAIN;
    while ((result = ssh_channel_open_session(channel_)) == SSH_AGAIN) {
      ORDEAL_TRY(owner_.wait(patience));
    }
    return result == SSH_OK ? Status{} : owner_.lost("opening a channel");
  }

  Status request(const std::string& line, const Patience& patience) {
    int result = SSH_AGAIN;
    while ((result = ssh_channel_request_exec(channel_, line.c_str())) == SSH_AGAIN) {
      ORDEAL_TRY(owner_.wait(patience));
    }
    return result == SSH_OK ? Status{} : owner_.lost("the command's request");
  }

  // Moves data until the command is over.
  Status pump(const Patience& patience) {
    last_progress_ = Clock::now();
    while (!over()) {
      if (move_data()) {
        last_progress_ = Clock::now();
      } else if (ssh_is_connected(owner_.session_) == 0 || failed_) {
        return owner_.lost("the connection");
      } else {
        ORDEAL_TRY(owner_.wait(patience));
      }
    }
    if (!exit_status_) return owner_.lost("the connection");
    return {};
  }

  CommandOutput output() {
    take_pid();
    return {exit_status_.value_or(255), std::move(out_), std::move(err_)};
  }

  // Process id of the remote shell, once it was told; cut from stderr.
  std::optional<int> take_pid() {
    const std::size_t begin = err_.find(kPidMark);
    const std::size_t end = begin == std::string::npos ? begin : err_.find('\n', begin);
    if (end == std::string::npos) return std::nullopt;
    int pid = 0;
    std::from_chars(err_.data() + begin + kPidMark.size(), err_.data() + end, pid);
    err_.erase(begin, end - begin + 1);
    return pid > 1 ? std::optional(pid) : std::nullopt;
  }

 private:
  static void on_exit_status(ssh_session, ssh_channel, int status, void* self) {
    static_cast<Exec*>(self)->exit_status_ = status;
  }
  static void on_exit_signal(ssh_session, ssh_channel, const char* name, int, const char*,
                             const char*, void* self) {
    static_cast<Exec*>(self)->exit_status_ = 128 + signal_number(name);
  }

  bool over() const {
    if (ssh_channel_is_closed(channel_) != 0 && !unread()) return true;
    if (!exit_status_) return false;
    return ssh_channel_is_eof(channel_) != 0 || Clock::now() - last_progress_ > kSilenceAfterExit;
  }

  bool unread() const {
    return ssh_channel_poll(channel_, 0) > 0 || ssh_channel_poll(channel_, 1) > 0;
  }

  bool move_data() {
    const bool wrote = write_some();
    const bool read_out = read_some(0, out_);
    const bool read_err = read_some(1, err_);
    // Once both streams have ended, reading them no longer handles packets; this does.
    if (!exit_status_) ssh_channel_get_exit_status(channel_);
    return wrote || read_out || read_err;
  }

  bool write_some() {
    if (input_done_) return false;
    if (rest_.empty()) {
      ssh_channel_send_eof(channel_);
      return input_done_ = true;
    }
    const auto chunk = std::min<std::size_t>(
        {rest_.size(), ssh_channel_window_size(channel_), std::size_t{32'768}});
    if (chunk == 0) return false;
    const int count = ssh_channel_write(channel_, rest_.data(), static_cast<std::uint32_t>(chunk));
    if (count < 0) {
      input_done_ = true;  // the command no longer reads; what it said still counts
      return false;
    }
    rest_.remove_prefix(static_cast<std::size_t>(count));
    return count > 0;
  }

  bool read_some(int is_stderr, std::string& into) {
    std::array<char, 32'768> buffer;
    const int count =
        ssh_channel_read_nonblocking(channel_, buffer.data(), buffer.size(), is_stderr);
    if (count == SSH_ERROR) failed_ = true;
    if (count <= 0) return false;
    into.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  SshSession& owner_;
  ssh_channel channel_;
  std::string_view rest_;
  ssh_channel_callbacks_struct callbacks_{};
  std::string out_;
  std::string err_;
  std::optional<int> exit_status_;
  Clock::time_point last_progress_;
  bool input_done_ = false;
  bool failed_ = false;
};

namespace {

// As far as the host still answers.
void kill_group(SshSession& session, int pid) {
  const Patience patience{Clock::now() + kKillPatience, {}};
  const std::string none;
  Exec exec(session, none);
  if (exec.open(patience) && exec.request("kill -KILL -" + std::to_string(pid), patience)) {
    static_cast<void>(exec.pump(patience));
  }
}

}  // namespace

tl::expected<CommandOutput, ExecFailure> SshSession::exec(const std::string& line,
                                                          const std::string& input,
                                                          const Patience& patience) {
  Exec exec(*this, input);
  if (auto opened = exec.open(patience); !opened) {
    return tl::unexpected(ExecFailure{opened.error(), false});
  }
  const std::string whole = "echo " + std::string(kPidMark) + "$$ >&2; exec " + line;
  Status result = exec.request(whole, patience);
  if (result) result = exec.pump(patience);
  if (result) return exec.output();
  if (const auto pid = exec.take_pid(); pid && alive()) kill_group(*this, *pid);
  return tl::unexpected(ExecFailure{result.error(), true});
}

}  // namespace ordeal
