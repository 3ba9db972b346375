#include "cli/outcome.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ordeal {
namespace {

int lost = 0;  // errno of the first write to stdout that failed

void flush() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  if (lost == 0 && errno != EPIPE) lost = errno == 0 ? EIO : errno;
  std::clearerr(stdout);
}

}  // namespace

int exit_code_of(Validity validity) {
  switch (validity) {
    case Validity::valid:
      return 0;
    case Validity::invalid:
      return 1;
    case Validity::unknown:
      break;
  }
  return 2;
}

void print_result(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  flush();
}

int finish(int code) {
  flush();
  if (lost == 0) return code;
  return complain(Error{
      ErrorKind::internal,
      fmt::format("the result could not be written to standard output: {}", std::strerror(lost))});
}

// Writing to /dev/full fails, as to a closed stream.
void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool closed = fcntl(stream, F_GETFD) < 0;
    if (closed && open(stream == STDIN_FILENO ? "/dev/null" : "/dev/full", O_RDWR) < 0) return;
  }
}

int complain(const Error& error) {
  std::fputs(fmt::format("ordeal: {}\n", error.message).c_str(), stderr);
  return exit_code(error.kind);
}

}  // namespace ordeal
