// Reads JSON histories: objects one after the other, usually one a line, or one array of them, with
// the keys of Jepsen's EDN. Each operation is turned into EDN and goes the way of read_edn() from
// there.
#include <algorithm>

#include "history/edn_parser.h"
#include "history/formats.h"
#include "history/json_operations.h"
#include "history/operation_adder.h"

namespace ordeal {
namespace {

class JsonReader {
 public:
  JsonReader(std::string_view bytes, std::string_view name, const ReadOptions& options)
      : bytes_(bytes), name_(name), scanner_(bytes), adder_(!options.repair) {}

  Result<ReadHistory> read() {
    is_array_ = scanner_.peek() == '[';
    if (is_array_) scanner_.enter('[');
    for (bool first = true; more(first);) {
      begin_ = scanner_.at();
      if (!read_operation()) break;
    }
    if (!expected_.empty()) return wrong(begin_, expected_, found_);
    if (scanner_.truncated()) {
      warn_of_cut();
    } else if (scanner_.failed()) {
      return wrong(scanner_.at(), scanner_.expected(), scanner_.rest());
    } else if (!scanner_.rest().empty() && !only_zeros(scanner_.rest())) {
      return wrong(scanner_.at(), "expected nothing behind the array", scanner_.rest());
    }
    result_.history = adder_.build();
    return std::move(result_);
  }

 private:
  bool more(bool& first) {
    if (is_array_) {
      const bool more = scanner_.next(first, ']');
      scanner_.peek();
      return more;
    }
    return scanner_.peek() != '\0' || (!scanner_.rest().empty() && !only_zeros(scanner_.rest()));
  }

  bool read_operation() {
    edn_.clear();
    if (!append_operation_edn(scanner_, edn_)) return false;
    parser_.clear();
    EdnScanner scanner(edn_);
    if (!parser_.read(scanner)) return note(scanner.expected(), scanner.at());
    const auto& operations = parser_.parsed();
    const auto [at, expected] = adder_.add(operations.operations.front(), operations);
    return expected.empty() || note(expected, at);
  }

  bool note(std::string_view expected, std::size_t at) {
    expected_ = expected;
    found_ = edn_.substr(at, kExcerptMax);
    return false;
  }

  // An array may be one long line: then only the byte helps.
  tl::unexpected<Error> wrong(std::size_t at, std::string_view expected,
                              std::string_view found) const {
    found = found.substr(0, kExcerptMax);
    found = found.substr(0, found.find_first_of("\r\n"));
    return bad_input("{}:{}: {}, found `{}` (byte {})", name_, line_of(at), expected, found,
                     at + 1);
  }

  std::size_t line_of(std::size_t at) const {
    const std::string_view before = bytes_.substr(0, at);
    return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  }

  static bool only_zeros(std::string_view bytes) {
    return bytes.find_first_not_of('\0') == std::string_view::npos;
  }

  void warn_of_cut() {
    result_.warnings.push_back(
        is_array_ ? fmt::format("the history {} ends before its array does; the {} operations that "
                                "are complete are kept",
                                name_, adder_.size())
                  : fmt::format("the history {} ends within the operation that starts in line {}, "
                                "which is left out; the {} operations before it are kept",
                                name_, line_of(begin_), adder_.size()));
  }

  static constexpr std::size_t kExcerptMax = 40;

  std::string_view bytes_;
  std::string_view name_;
  JsonScanner scanner_;
  EdnParser parser_;
  OperationAdder adder_;
  bool is_array_ = false;
  std::size_t begin_ = 0;  // of the operation at hand
  std::string edn_;        // the operation at hand
  std::string expected_;   // what is wrong with it, as EDN
  std::string found_;
  ReadHistory result_;
};

}  // namespace

Result<ReadHistory> read_json(std::string_view bytes, std::string_view name,
                              const ReadOptions& options) {
  bytes = without_bom(bytes);
  return JsonReader(bytes, name, options).read();
}

}  // namespace ordeal
