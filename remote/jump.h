// The way to a host that only another machine reaches: a command whose standard streams are the
// connection to the host's sshd, as ssh's ProxyCommand, e.g. `ssh -W 10.0.0.5:22 bastion`.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"
#include "remote/host.h"
#include "remote/unique_fd.h"

namespace ordeal {

// Used by one thread at a time, with the connection that it made.
class Jump {
 public:
  // Runs HostSpec::proxy_command by `sh -c`; returns before it is known whether it leads anywhere.
  static Result<Jump> start(const HostSpec& spec);
  Jump() = default;  // of a host that is reached directly
  Jump(Jump&& other) noexcept;
  Jump& operator=(Jump&& other) noexcept;
  ~Jump();  // ends the command and what it started

  // This side of the streams: a non-blocking socket, handed out once.
  UniqueFd take_connection() { return std::move(connection_); }
  // What the command complained of last, as the end of a message; nothing where it did not.
  std::string complaint() const;

 private:
  pid_t pid_ = -1;
  UniqueFd connection_;
  UniqueFd messages_;
};

}  // namespace ordeal
