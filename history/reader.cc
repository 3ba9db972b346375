#include "history/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/huge_pages.h"
#include "base/names.h"
#include "history/formats.h"
#include "history/order_warnings.h"
#include "history/repair.h"

namespace ordeal {
namespace {

struct Bytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;
  std::string_view view() const { return {data.get(), size}; }
};

tl::unexpected<Error> cannot_read(const std::filesystem::path& path, int error_number) {
  return bad_input("cannot read the history {}: {}", path.string(), std::strerror(error_number));
}

// Of a pipe, which does not know its size.
Result<Bytes> read_stream(int descriptor, const std::filesystem::path& path) {
  std::string text;
  char buffer[1 << 16];
  for (ssize_t got = 1; got != 0;) {
    got = ::read(descriptor, buffer, sizeof buffer);
    if (got < 0 && errno != EINTR) return cannot_read(path, errno);
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
  }
  Bytes bytes{std::make_unique_for_overwrite<char[]>(text.size()), text.size()};
  std::copy(text.begin(), text.end(), bytes.data.get());
  return bytes;
}

// Read rather than mapped: a file that is cut short meanwhile must not end the process. What is
// appended to it meanwhile is not seen.
Result<Bytes> read_file(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return cannot_read(path, errno);
  const auto closer = [](const int* open) { ::close(*open); };
  const std::unique_ptr<const int, decltype(closer)> closing(&descriptor, closer);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return cannot_read(path, errno);
  if (S_ISDIR(status.st_mode)) return cannot_read(path, EISDIR);
  if (!S_ISREG(status.st_mode)) return read_stream(descriptor, path);
  const auto size = static_cast<std::size_t>(status.st_size);
  Bytes bytes{std::make_unique_for_overwrite<char[]>(size), 0};
  advise_huge_pages(bytes.data.get(), size);
  while (bytes.size < size) {
    const ssize_t got = ::read(descriptor, bytes.data.get() + bytes.size, size - bytes.size);
    if (got == 0) break;
    if (got < 0 && errno != EINTR) return cannot_read(path, errno);
    if (got > 0) bytes.size += static_cast<std::size_t>(got);
  }
  return bytes;
}

// By the first characters that carry meaning: `{"` and `[{"` start JSON; `{:`, `[{:`, `#`, `;` and
// `()` EDN; `[[` and `{"data"` (or another of its keys) dbcop; `r(` and `w(` Plume.
std::string_view detect(std::string_view bytes) {
  if (is_ohist(bytes)) return "ordeal";
  bytes = without_bom(bytes);
  constexpr std::string_view kBlanks = " \t\r\n,";
  const auto skip = [&](std::size_t at) {
    return std::min(bytes.find_first_not_of(kBlanks, at), bytes.size());
  };
  const auto at = [&](std::size_t place) { return place < bytes.size() ? bytes[place] : '\0'; };
  std::size_t place = skip(0);
  if (at(place) == '#' || at(place) == ';' || at(place) == '(') return "edn";
  if ((at(place) == 'r' || at(place) == 'w') && at(place + 1) == '(') return "plume";
  const bool array = at(place) == '[';
  if (array) place = skip(place + 1);
  const char first = at(place);
  if (first == ']') return "json";  // an empty vector means the same in both
  if (first == '#' || first == ';' || (first == '\0' && place > 0)) return "edn";
  if (array && first == '[') return "dbcop";
  if (first != '{') return "";
  place = skip(place + 1);
  const char second = at(place);
  if (second == ':' || second == '\0' || second == ';') return "edn";
  if (second != '"') return "";
  for (const std::string_view key : {"params", "info", "start", "end", "data"}) {
    const std::string_view name = bytes.substr(place + 1, key.size() + 1);
    if (!array && name == std::string(key) + '"') return "dbcop";
  }
  return "json";
}

Result<ReadHistory> read_as(std::string_view format, std::string_view bytes, std::string_view name,
                            const ReadOptions& options) {
  if (format == "ordeal") return read_ohist(bytes, name, options);
  if (format == "edn") return read_edn(bytes, name, options);
  if (format == "json") return read_json(bytes, name, options);
  if (format == "plume") return read_plume(bytes, name);
  if (format == "dbcop") return read_dbcop(bytes, name);
  return bad_input(
      "{} is no history that Ordeal knows: expected an .ohist file, Jepsen's EDN (`{{:index 0, "
      "...`), JSON (`{{\"index\": 0, ...`), Plume's text (`w(key,value,session,transaction)`) or "
      "dbcop's JSON; name the format with --format",
      name);
}

// A run that recorded nothing wrote the header of an .ohist file at least.
Result<ReadHistory> read_nothing(const std::filesystem::path& path) {
  if (path.extension() == ".ohist") return bad_input("the history {} is empty", path.string());
  ReadHistory read;
  read.warnings.push_back(fmt::format("the history {} is empty", path.string()));
  return read;
}

}  // namespace

Result<ReadHistory> read_history(const std::filesystem::path& path, const ReadOptions& options) {
  static constexpr std::array<std::string_view, 6> kFormats{"auto", "ordeal", "edn",
                                                            "json", "plume",  "dbcop"};
  if (std::find(kFormats.begin(), kFormats.end(), options.format) == kFormats.end()) {
    return bad_input("{}", unknown_name("history format", options.format, kFormats));
  }
  ORDEAL_TRY_ASSIGN(const Bytes bytes, read_file(path));
  if (bytes.view().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return read_nothing(path);
  }
  return read_bytes(bytes.view(), path.string(), options);
}

Result<ReadHistory> read_bytes(std::string_view bytes, std::string_view name,
                               const ReadOptions& options) {
  const std::string_view format = options.format == "auto" ? detect(bytes) : options.format;
  ORDEAL_TRY_ASSIGN(ReadHistory read, read_as(format, bytes, name, options));
  if (options.repair) read = repaired(std::move(read), name);
  for (auto& warning : order_warnings(read.history, name)) {
    read.warnings.push_back(std::move(warning));
  }
  return read;
}

std::string_view without_bom(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

Result<ReadHistory> read_history(const std::filesystem::path& path, std::string_view format) {
  return read_history(path, ReadOptions{format, false});
}

}  // namespace ordeal
