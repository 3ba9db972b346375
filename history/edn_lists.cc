#include "history/edn_lists.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ordeal {
namespace {

// Keys come and go in most workloads; this bounds what is kept of them.
constexpr std::size_t kKeysMax = 1024;
constexpr std::size_t kTextBytesMax = std::size_t{1} << 23U;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t size = std::min(a.size(), b.size());
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    std::uint64_t left = 0;
    std::uint64_t right = 0;
    std::memcpy(&left, a.data() + at, 8);
    std::memcpy(&right, b.data() + at, 8);
    if (left != right) break;
  }
  while (at < size && a[at] == b[at]) ++at;
  return at;
}

}  // namespace

// How many elements of `known` the text begins with. An element ends where both texts agree, and no
// longer token goes on there.
std::size_t EdnLists::known_elements(const Known& known, std::string_view rest) {
  const std::size_t common = common_prefix(known.text, rest);
  auto count = static_cast<std::size_t>(
      std::upper_bound(known.ends.begin(), known.ends.end(), common) - known.ends.begin());
  const auto goes_on = [&](std::size_t end) {
    return end >= rest.size() || EdnScanner::is_ordinary(rest[end]);
  };
  if (count > 0 && goes_on(known.ends[count - 1])) --count;
  return count;
}

EdnLists::Known& EdnLists::known_of(Value key) {
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  if (known_.size() >= kKeysMax || text_bytes_ > kTextBytesMax) {
    known_.clear();
    text_bytes_ = 0;
  }
  return known_[key];
}

bool EdnLists::read(EdnScanner& scanner, ParsedMicroOp& micro_op, ParsedOperations& out) {
  char close = '\0';
  scanner.open_sequence(close);
  Known& known = known_of(micro_op.key);
  const std::size_t begin = scanner.at();
  const std::size_t count = known_elements(known, scanner.rest());
  if (count > 0) scanner.rewind(begin + known.ends[count - 1]);
  if (scanner.consume_if(close)) return use_known(known, count, micro_op, out), true;
  return read_rest(scanner, close, begin, count, micro_op, out);
}

void EdnLists::use_known(Known& known, std::size_t count, ParsedMicroOp& micro_op,
                         ParsedOperations& out) {
  if (known.placed < count || known.generation != generation_) {
    known.place = out.elements.size();
    known.placed = count;
    known.generation = generation_;
    out.elements.insert(out.elements.end(), known.elements.begin(),
                        known.elements.begin() + static_cast<std::ptrdiff_t>(count));
  }
  micro_op.list_begin = known.place;
  micro_op.list_size = count;
}

bool EdnLists::read_rest(EdnScanner& scanner, char close, std::size_t begin, std::size_t count,
                         ParsedMicroOp& micro_op, ParsedOperations& out) {
  const Known& known = known_[micro_op.key];
  micro_op.list_begin = out.elements.size();
  out.elements.insert(out.elements.end(), known.elements.begin(),
                      known.elements.begin() + static_cast<std::ptrdiff_t>(count));
  ends_.clear();
  while (!scanner.consume_if(close)) {
    if (!scanner.value(out.elements.emplace_back())) return false;
    ends_.push_back(scanner.at() - begin);
  }
  micro_op.list_size = out.elements.size() - micro_op.list_begin;
  const bool extends = count == known.elements.size() && ends_.back() <= kTextBytesMax;
  if (extends) learn(scanner, begin, micro_op, out);
  return true;
}

void EdnLists::learn(EdnScanner& scanner, std::size_t begin, const ParsedMicroOp& micro_op,
                     const ParsedOperations& out) {
  Known& known = known_[micro_op.key];
  const std::string_view text = scanner.text(begin, begin + ends_.back());
  text_bytes_ += text.size() - known.text.size();
  known.text.append(text.substr(known.text.size()));
  for (const std::size_t end : ends_) known.ends.push_back(static_cast<std::uint32_t>(end));
  const auto first_new = out.elements.end() - static_cast<std::ptrdiff_t>(ends_.size());
  known.elements.insert(known.elements.end(), first_new, out.elements.end());
  known.place = micro_op.list_begin;
  known.placed = micro_op.list_size;
  known.generation = generation_;
}

}  // namespace ordeal
