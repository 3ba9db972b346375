// Reads Jepsen's EDN histories: operations one after the other, or one vector of them.
#include <algorithm>

#include "history/edn.h"
#include "history/edn_chunks.h"
#include "history/formats.h"
#include "history/operation_adder.h"

namespace ordeal {
namespace {

std::size_t line_of(std::string_view bytes, std::size_t at) {
  const std::string_view before = bytes.substr(0, at);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

// Up to the end of the line, and no more than fits into a message.
std::string_view excerpt(std::string_view bytes, std::size_t at) {
  const std::string_view rest = bytes.substr(at, 40);
  return rest.substr(0, rest.find_first_of("\r\n"));
}

bool only_zeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

class EdnReader {
 public:
  EdnReader(std::string_view bytes, std::string_view name, const ReadOptions& options)
      : bytes_(bytes), name_(name), adder_(!options.repair) {}

  Result<ReadHistory> read() {
    find_bracket();
    EdnChunks chunks(bytes_, at_, close_);
    EdnChunk chunk;
    do {
      chunk = chunks.next(at_);
      ORDEAL_TRY(add(chunk));
      at_ = chunk.end;
      chunks.reuse(std::move(chunk.parsed));
    } while (!chunk.failed && !finished());
    ORDEAL_TRY(end(chunk));
    result_.history = adder_.build();
    return std::move(result_);
  }

 private:
  void find_bracket() {
    EdnScanner scanner(bytes_);
    scanner.skip_tags();
    close_ = scanner.peek() == '[' ? ']' : scanner.peek() == '(' ? ')' : '\0';
    // Tags are part of the first operation.
    EdnScanner first(bytes_, close_ == '\0' ? 0 : scanner.at() + 1);
    first.peek();
    at_ = first.at();
  }

  bool finished() const { return at_ >= bytes_.size() || bytes_[at_] == '\0' || closed(); }
  bool closed() const { return close_ != '\0' && at_ < bytes_.size() && bytes_[at_] == close_; }

  Status add(const EdnChunk& chunk) {
    if (adder_.size() == 0) reserve(chunk);
    for (const auto& operation : chunk.parsed.operations) {
      const auto [at, expected] = adder_.add(operation, chunk.parsed);
      if (!expected.empty()) return wrong(at, expected);
    }
    return {};
  }

  // As if all of the file were like its first chunk.
  void reserve(const EdnChunk& chunk) {
    const double more = 1.05 * static_cast<double>(bytes_.size()) /
                        static_cast<double>(std::max<std::size_t>(chunk.end - chunk.begin, 1));
    adder_.reserve(more * static_cast<double>(chunk.parsed.operations.size()),
                   more * static_cast<double>(chunk.parsed.micro_ops.size()));
  }

  tl::unexpected<Error> wrong(std::size_t at, std::string_view expected) const {
    return bad_input("{}:{}: {}, found `{}`", name_, line_of(bytes_, at), expected,
                     excerpt(bytes_, at));
  }

  // What may stand behind the last whole operation.
  Status end(const EdnChunk& chunk) {
    const std::size_t kept = adder_.size();
    const bool zeros = at_ < bytes_.size() && only_zeros(bytes_.substr(at_));
    if (chunk.truncated || zeros) {
      const std::size_t begin = chunk.truncated ? chunk.operation : at_;
      if (holds_operations(begin)) {
        return wrong(begin, "expected the end of the operation that begins here");
      }
      warn(
          fmt::format("the history {} ends within the operation that starts in line {}, which is "
                      "left out; the {} operations before it are kept",
                      name_, line_of(bytes_, begin), kept));
    } else if (chunk.failed) {
      return wrong(chunk.failed_at, chunk.expected);
    } else if (closed()) {
      return nothing_follows();
    } else if (at_ < bytes_.size()) {
      return wrong(at_, "expected an operation");
    } else if (close_ != '\0') {
      warn(
          fmt::format("the vector of the history {} is not closed, as when its end is missing; "
                      "the {} operations that are there are kept",
                      name_, kept));
    }
    return {};
  }

  // Whether what seems to be one operation, cut off, has lines that look like the start of others:
  // a missing quote makes a string of the rest of the file.
  bool holds_operations(std::size_t begin) const {
    const std::string_view rest = bytes_.substr(begin);
    return rest.find("\n{") != rest.npos || rest.find("\n {:") != rest.npos ||
           rest.find("\n#jepsen") != rest.npos;
  }

  Status nothing_follows() {
    EdnScanner behind(bytes_, at_ + 1);
    if (behind.peek() == '\0' && (behind.at_end() || only_zeros(bytes_.substr(behind.at())))) {
      return {};
    }
    return wrong(behind.at(), "expected nothing after the vector");
  }

  void warn(std::string warning) { result_.warnings.push_back(std::move(warning)); }

  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
  char close_ = '\0';
  OperationAdder adder_;
  ReadHistory result_;
};

}  // namespace

Result<ReadHistory> read_edn(std::string_view bytes, std::string_view name,
                             const ReadOptions& options) {
  bytes = without_bom(bytes);
  return EdnReader(bytes, name, options).read();
}

}  // namespace ordeal
