#include "remote/jump.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <boost/algorithm/string/trim.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "remote/process.h"

namespace ordeal {

Result<Jump> Jump::start(const HostSpec& spec) {
  Jump jump;
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return surroundings_error("cannot make a pair of sockets: {}", strerror(errno));
  }
  jump.connection_ = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK);
  // No pipe: nobody would read it while the connection lives.
  jump.messages_ = UniqueFd(memfd_create("ordeal-jump", MFD_CLOEXEC));
  if (!jump.messages_) return surroundings_error("cannot make a file: {}", strerror(errno));
  ORDEAL_TRY_ASSIGN(jump.pid_, start_process({{"sh", "-c", "exec " + spec.proxy_command}},
                                             {theirs.get(), theirs.get(), jump.messages_.get()}));
  return jump;
}

Jump::Jump(Jump&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      connection_(std::move(other.connection_)),
      messages_(std::move(other.messages_)) {}

Jump& Jump::operator=(Jump&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(connection_, other.connection_);
  std::swap(messages_, other.messages_);
  return *this;
}

Jump::~Jump() {
  if (pid_ > 0) end_process(pid_);
}

std::string Jump::complaint() const {
  if (!messages_) return "";
  std::array<char, 4096> buffer;
  const off_t size = lseek(messages_.get(), 0, SEEK_END);
  const off_t from = size > off_t{buffer.size()} ? size - off_t{buffer.size()} : 0;
  const ssize_t count = pread(messages_.get(), buffer.data(), buffer.size(), from);
  if (count <= 0) return "";
  const std::string text = boost::trim_copy(std::string(buffer.data(), std::size_t(count)));
  const std::string last = boost::trim_copy(text.substr(text.rfind('\n') + 1));
  return last.empty() ? "" : "; on the way through the jump host: " + last;
}

}  // namespace ordeal
