// Expected failure as a value. Functions that can fail for reasons outside the program return
// Result<T> or Status; broken invariants assert; exceptions stop at the wrapper of the library that
// throws them. What a database did is not an Error but an Outcome (targets/client.h).
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace ordeal {

// Decides the exit code of the program; see exit_code().
enum class ErrorKind {
  bad_input,     // arguments, campaign or history file: the user must change something
  surroundings,  // host unreachable, server did not start, disk full: nothing was judged
  stopped,       // the user asked to stop
  internal,      // a bug of Ordeal
};

// `message` is one sentence for the user: what, where (file, line, host, command), what to do.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

// 254 bad input, 3 surroundings or stopped, 255 internal.
int exit_code(ErrorKind kind);

template <class... Args>
tl::unexpected<Error> bad_input(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(
      Error{ErrorKind::bad_input, fmt::format(format, std::forward<Args>(args)...)});
}

template <class... Args>
tl::unexpected<Error> surroundings_error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(
      Error{ErrorKind::surroundings, fmt::format(format, std::forward<Args>(args)...)});
}

template <class... Args>
tl::unexpected<Error> internal_error(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(
      Error{ErrorKind::internal, fmt::format(format, std::forward<Args>(args)...)});
}

inline tl::unexpected<Error> stopped() {
  return tl::unexpected(Error{ErrorKind::stopped, "stopped on request"});
}

}  // namespace ordeal

#define ORDEAL_CONCAT_INNER(a, b) a##b
#define ORDEAL_CONCAT(a, b) ORDEAL_CONCAT_INNER(a, b)

// Returns the error of a Status or Result to the caller; continues on success.
#define ORDEAL_TRY(expression)                                 \
  do {                                                         \
    if (auto ordeal_status = (expression); !ordeal_status)     \
      return tl::unexpected(std::move(ordeal_status).error()); \
  } while (false)

// ORDEAL_TRY_ASSIGN(auto file, open(path)): as ORDEAL_TRY, and binds the value.
#define ORDEAL_TRY_ASSIGN(declaration, expression)                                     \
  auto ORDEAL_CONCAT(ordeal_result_, __LINE__) = (expression);                         \
  if (!ORDEAL_CONCAT(ordeal_result_, __LINE__))                                        \
    return tl::unexpected(std::move(ORDEAL_CONCAT(ordeal_result_, __LINE__)).error()); \
  declaration = std::move(*ORDEAL_CONCAT(ordeal_result_, __LINE__))
