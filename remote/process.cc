#include "remote/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include "remote/unique_fd.h"

extern char** environ;

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;

// Writing to a process that no longer reads raises SIGPIPE; it is held back from this thread alone,
// and taken out of the queue if it came.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  ~SigpipeBlocked() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec at_once{};
      while (sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> merged_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!added.contains(std::string(text.substr(0, text.find('='))))) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

enum class Group { own_group, own_session, shared };

// Starts the program with `streams` as its standard streams.
Result<pid_t> spawn(const ProcessRequest& request, const std::array<int, 3>& streams, Group group) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int i = 0; i < 3; ++i)
    posix_spawn_file_actions_adddup2(&actions, streams[std::size_t(i)], i);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);

  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (group == Group::own_group) flags |= POSIX_SPAWN_SETPGROUP;
  if (group == Group::own_session) flags |= POSIX_SPAWN_SETSID;
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));

  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = merged_environment(request.environment);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments.front().c_str(), &actions, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return surroundings_error("cannot start {}: {}", request.arguments.front(), strerror(error));
  }
  return pid;
}

int status_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int reap(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status_of(status);
}

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return surroundings_error("cannot make a pipe: {}", strerror(errno));
  }
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void set_nonblocking(const UniqueFd& fd) {
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

using OnOutput = std::function<void(std::string_view)>;

// Reads all that is there; closes `fd` at the end of the stream.
void read_available(UniqueFd& fd, std::string& into, const OnOutput& on_output = {}) {
  std::array<char, 65536> buffer;
  while (fd) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(count));
      if (on_output) on_output({buffer.data(), static_cast<std::size_t>(count)});
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      fd.reset();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

// Writes what the pipe takes; closes `fd` once all is written or nobody reads.
void write_available(UniqueFd& fd, std::string_view& rest) {
  while (fd && !rest.empty()) {
    const ssize_t count = ::write(fd.get(), rest.data(), rest.size());
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      fd.reset();
    }
  }
  fd.reset();
}

// A started process and this side of its streams.
class Child {
 public:
  static Result<Child> start(const ProcessRequest& request) {
    ORDEAL_TRY_ASSIGN(Pipe in, make_pipe());
    ORDEAL_TRY_ASSIGN(Pipe out, make_pipe());
    ORDEAL_TRY_ASSIGN(Pipe err, make_pipe());
    ORDEAL_TRY_ASSIGN(
        const pid_t pid,
        spawn(request, {in.read.get(), out.write.get(), err.write.get()}, Group::own_group));
    Child child;
    child.pid_ = pid;
    child.ended_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    child.in_ = std::move(in.write);
    child.out_ = std::move(out.read);
    child.err_ = std::move(err.read);
    for (const UniqueFd* fd : {&child.in_, &child.out_, &child.err_}) set_nonblocking(*fd);
    child.rest_ = request.standard_input;
    child.on_output_ = request.on_output;
    return child;
  }

  // Moves data until the process ends (true), the deadline passes or `wake` is readable (false).
  bool pump(Clock::time_point deadline, int wake) {
    while (true) {
      write_available(in_, rest_);
      std::array<pollfd, 5> fds{{{in_.get(), POLLOUT, 0},
                                 {out_.get(), POLLIN, 0},
                                 {err_.get(), POLLIN, 0},
                                 {ended_.get(), POLLIN, 0},
                                 {wake, POLLIN, 0}}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return false;
      poll(fds.data(), fds.size(), static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
      const bool ended = fds[3].revents != 0;
      read_available(out_, output_.standard_output, on_output_);
      read_available(err_, output_.standard_error);
      if (ended) return true;
      if (fds[4].revents != 0) return false;
    }
  }

  void kill_group() const { ::kill(-pid_, SIGKILL); }

  CommandOutput finish() {
    output_.exit_status = reap(pid_);
    return std::move(output_);
  }

 private:
  pid_t pid_ = -1;
  UniqueFd ended_;  // readable once the process ended
  UniqueFd in_;
  UniqueFd out_;
  UniqueFd err_;
  std::string_view rest_;
  OnOutput on_output_;
  CommandOutput output_;
};

std::string display_of(const ProcessRequest& request) {
  return display(Command{request.arguments, {}, {}, {}});
}

}  // namespace

Result<CommandOutput> run_process(const ProcessRequest& request, std::chrono::milliseconds timeout,
                                  std::stop_token stop) {
  if (stop.stop_requested()) return stopped();
  const SigpipeBlocked sigpipe_blocked;
  const auto deadline = Clock::now() + timeout;
  const UniqueFd wake(eventfd(0, EFD_CLOEXEC));
  ORDEAL_TRY_ASSIGN(Child child, Child::start(request));
  const std::stop_callback on_stop(stop, [&] { eventfd_write(wake.get(), 1); });
  if (child.pump(deadline, wake.get())) return child.finish();
  child.kill_group();
  child.finish();
  if (stop.stop_requested()) return stopped();
  return surroundings_error("it did not end within {} ms, and was killed", timeout.count());
}

Status run_process_checked(const ProcessRequest& request, std::chrono::milliseconds timeout,
                           std::stop_token stop) {
  const auto output = run_process(request, timeout, std::move(stop));
  if (!output) {
    return tl::unexpected(
        Error{output.error().kind, display_of(request) + ": " + output.error().message});
  }
  if (output->exit_status == 0) return {};
  std::string words =
      output->standard_error.empty() ? output->standard_output : output->standard_error;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  return surroundings_error("`{}` ended with exit status {}: {}", display_of(request),
                            output->exit_status, words);
}

bool program_exists(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream directories(std::string(path == nullptr ? "" : path) +
                                 ":/usr/sbin:/sbin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    if (!directory.empty() && access((directory + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

Result<pid_t> start_process(const ProcessRequest& request, const std::array<int, 3>& streams) {
  return spawn(request, streams, Group::own_group);
}

void end_process(pid_t pid) {
  ::kill(-pid, SIGKILL);
  reap(pid);
}

Result<int> run_in_foreground(const ProcessRequest& request) {
  ORDEAL_TRY_ASSIGN(const pid_t pid, spawn(request, {0, 1, 2}, Group::shared));
  return reap(pid);
}

Result<int> run_to_file(const ProcessRequest& request, const std::filesystem::path& output,
                        std::stop_token stop) {
  const UniqueFd file(open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) {
    return surroundings_error("cannot open {} for writing: {}", output.string(), strerror(errno));
  }
  ORDEAL_TRY_ASSIGN(const pid_t pid, spawn(request, {0, file.get(), 2}, Group::own_group));
  const std::stop_callback on_stop(stop, [pid] { ::kill(pid, SIGTERM); });
  return reap(pid);
}

Result<pid_t> start_daemon(const ProcessRequest& request, const std::filesystem::path& log) {
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd file(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!null || !file) {
    return surroundings_error("cannot open {} for writing: {}", log.string(), strerror(errno));
  }
  return spawn(request, {null.get(), file.get(), file.get()}, Group::own_session);
}

}  // namespace ordeal
