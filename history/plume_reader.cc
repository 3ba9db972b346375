// Reads the text histories of Plume, PolySI and IsoVista: a line an operation,
//
//   w(key,value,session,transaction)      r(key,value,session,transaction)
//
// all of them integers. Transaction -1 is any aborted one. Registers are 0 before they are written.
// See docs/importing.md for where the format is from.
#include <array>
#include <charconv>
#include <unordered_map>

#include "history/formats.h"
#include "history/register_sessions.h"

namespace ordeal {
namespace {

struct Line {
  bool write = false;
  std::array<std::int64_t, 4> fields{};  // key, value, session, transaction
};

// What was expected; "" where the line is well-formed.
std::string_view parse(std::string_view text, Line& line) {
  if (!text.starts_with("r(") && !text.starts_with("w(")) return "expected r( or w(";
  line.write = text.front() == 'w';
  const char* at = text.data() + 2;
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < line.fields.size(); ++i) {
    const auto [behind, error] = std::from_chars(at, end, line.fields[i]);
    if (error != std::errc()) return "expected an integer of 64 bits";
    const char close = i + 1 < line.fields.size() ? ',' : ')';
    if (behind == end || *behind != close) {
      return close == ',' ? "expected four integers, separated by commas" : "expected )";
    }
    at = behind + 1;
  }
  return at == end ? "" : "expected the end of the line";
}

struct IdHash {
  std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& id) const {
    const auto session = static_cast<std::uint64_t>(id.first);
    return std::hash<std::uint64_t>{}((session * 0x9e3779b97f4a7c15U) ^
                                      static_cast<std::uint64_t>(id.second));
  }
};

class PlumeReader {
 public:
  PlumeReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Result<ReadHistory> read() {
    for (std::size_t at = 0; at < bytes_.size();) {
      const std::size_t end = std::min(bytes_.find('\n', at), bytes_.size());
      std::string_view text = bytes_.substr(at, end - at);
      at = end + 1;
      ++number_;
      while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
      if (text.empty()) continue;
      Line line;
      const std::string_view expected = parse(text, line);
      if (expected.empty()) {
        add(line);
      } else if (end == bytes_.size()) {
        warn_of_cut();
      } else {
        return bad_input("{}:{}: {}, found `{}`", name_, number_, expected, text.substr(0, 40));
      }
    }
    result_.history = sessions_.build(true);
    return std::move(result_);
  }

 private:
  void add(const Line& line) {
    const auto [key, value, session, transaction] = line.fields;
    if (transaction == -1) {
      const auto id = sessions_.begin(ProcessId{session}, Phase::fail);
      return add_to(id, line.write, key, value);
    }
    const auto name = std::pair(session, transaction);
    if (name != last_name_ || sessions_.size() == 0) {
      const auto [found, is_new] = ids_.try_emplace(name);
      if (is_new) found->second = sessions_.begin(ProcessId{session}, Phase::ok);
      last_name_ = name;
      last_ = found->second;
    }
    add_to(last_, line.write, key, value);
  }

  void add_to(RegisterSessions::Id id, bool write, std::int64_t key, std::int64_t value) {
    if (write) return sessions_.write(id, Value(key), Value(value));
    sessions_.read(id, Value(key), Value(value));
  }

  void warn_of_cut() {
    result_.warnings.push_back(
        fmt::format("the history {} ends within line {}, which is left out; the {} transactions "
                    "before it are kept",
                    name_, number_, sessions_.size()));
  }

  std::string_view bytes_;
  std::string_view name_;
  std::size_t number_ = 0;  // of the line at hand
  RegisterSessions sessions_;
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, RegisterSessions::Id, IdHash> ids_;
  std::pair<std::int64_t, std::int64_t> last_name_;
  RegisterSessions::Id last_ = 0;
  ReadHistory result_;
};

}  // namespace

Result<ReadHistory> read_plume(std::string_view bytes, std::string_view name) {
  bytes = without_bom(bytes);
  return PlumeReader(bytes, name).read();
}

}  // namespace ordeal
