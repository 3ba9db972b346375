// SshSession::upload and download, by sftp. libssh's sftp calls block without a time-out, so a
// watchdog shuts the connection down when patience ends, which makes them fail.
#include <fcntl.h>
#include <libssh/libssh.h>
#include <libssh/sftp.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include "remote/ssh_session.h"

namespace ordeal {

class SshSession::Watchdog {
 public:
  Watchdog(int fd, const Patience& patience)
      : thread_([this, fd, patience](std::stop_token done) {
          std::unique_lock lock(mutex_);
          const std::stop_callback wake(patience.stop, [this] {
            const std::scoped_lock stopping(mutex_);
            condition_.notify_all();
          });
          condition_.wait_until(lock, done, patience.deadline,
                                [&] { return patience.stop.stop_requested(); });
          if (!done.stop_requested()) shutdown(fd, SHUT_RDWR);
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any condition_;
  std::jthread thread_;
};

namespace {

constexpr std::size_t kChunkBytes =
    32'768;  // what every sftp server takes (draft-ietf-secsh-filexfer-02, 3)

struct FreeSftp {
  void operator()(sftp_session_struct* sftp) const { sftp_free(sftp); }
};
using Sftp = std::unique_ptr<sftp_session_struct, FreeSftp>;

struct CloseFile {
  void operator()(sftp_file_struct* file) const { sftp_close(file); }
};
using RemoteFile = std::unique_ptr<sftp_file_struct, CloseFile>;

std::string_view reason(sftp_session sftp) {
  switch (sftp_get_error(sftp)) {
    case SSH_FX_NO_SUCH_FILE:
      return "no such file or directory";
    case SSH_FX_PERMISSION_DENIED:
      return "permission denied";
    case SSH_FX_OK:
    case SSH_FX_NO_CONNECTION:
    case SSH_FX_CONNECTION_LOST:
      return "the connection was lost or too slow";
    default:
      return "the host's sftp server refused (is there space left?)";
  }
}

struct Failure {
  std::string doing;
  Status operator()(std::string_view why) const { return surroundings_error("{}: {}", doing, why); }
};

Status send(sftp_session sftp, sftp_file file, std::ifstream& source, const Failure& failed) {
  std::array<char, kChunkBytes> buffer;
  while (source) {
    source.read(buffer.data(), buffer.size());
    const auto count = static_cast<std::size_t>(source.gcount());
    if (count > 0 && sftp_write(file, buffer.data(), count) != static_cast<ssize_t>(count)) {
      return failed(reason(sftp));
    }
  }
  if (source.bad()) return failed("cannot read the local file");
  return {};
}

Status receive(sftp_session sftp, sftp_file file, std::ofstream& sink, const Failure& failed) {
  std::array<char, kChunkBytes> buffer;
  ssize_t count = 0;
  while ((count = sftp_read(file, buffer.data(), buffer.size())) > 0) {
    sink.write(buffer.data(), count);
  }
  if (count < 0) return failed(reason(sftp));
  sink.close();
  if (!sink) return failed("cannot write the local file (is there space left?)");
  return {};
}

// Runs `transfer` with the session in blocking mode and an sftp channel.
Status with_sftp(ssh_session session, const Failure& failed,
                 const std::function<Status(sftp_session)>& transfer) {
  ssh_set_blocking(session, 1);
  Status result;
  {
    const Sftp sftp(sftp_new(session));
    if (!sftp || sftp_init(sftp.get()) != SSH_OK) {
      result = failed("the host has no sftp server, or the connection was lost");
    } else {
      result = transfer(sftp.get());
    }
  }
  ssh_set_blocking(session, 0);
  return result;
}

}  // namespace

Status SshSession::upload(const std::filesystem::path& from, const std::filesystem::path& to,
                          const Patience& patience) {
  const Failure failed{
      fmt::format("{}: uploading {} to {} failed", describe(spec_), from.string(), to.string())};
  std::ifstream source(from, std::ios::binary);
  struct stat attributes {};
  if (!source || stat(from.c_str(), &attributes) != 0) return failed("cannot read the local file");
  const Watchdog watchdog(ssh_get_fd(session_), patience);
  return with_sftp(session_, failed, [&](sftp_session sftp) -> Status {
    const RemoteFile file(
        sftp_open(sftp, to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, attributes.st_mode & 0777U));
    if (!file) return failed(reason(sftp));
    return send(sftp, file.get(), source, failed);
  });
}

Status SshSession::download(const std::filesystem::path& from, const std::filesystem::path& to,
                            const Patience& patience) {
  const Failure failed{
      fmt::format("{}: downloading {} to {} failed", describe(spec_), from.string(), to.string())};
  const Watchdog watchdog(ssh_get_fd(session_), patience);
  return with_sftp(session_, failed, [&](sftp_session sftp) -> Status {
    const RemoteFile file(sftp_open(sftp, from.c_str(), O_RDONLY, 0));
    if (!file) return failed(reason(sftp));
    std::ofstream sink(to, std::ios::binary | std::ios::trunc);
    if (!sink) return failed("cannot write the local file");
    return receive(sftp, file.get(), sink, failed);
  });
}

}  // namespace ordeal
