#include "history/edn.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "history/escapes.h"

namespace ordeal {
namespace {

// Deeper nesting than any history has; bounds the stack on hostile input.
constexpr int kDepthMax = 500;

// "12", "+12", "12N" as EDN's integers; false for anything else, and past 64 bits.
bool parse_integer(std::string_view token, std::int64_t& out) {
  if (token.starts_with('+')) token.remove_prefix(1);
  if (token.ends_with('N')) token.remove_suffix(1);
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), out);
  return error == std::errc() && end == token.data() + token.size();
}

// One text for each integer of any size.
std::string_view canonical_token(std::string_view token) {
  std::string_view digits = token;
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  if (digits.ends_with('N')) digits.remove_suffix(1);
  const bool integer = !digits.empty() && digits.find_first_not_of("0123456789") == digits.npos;
  if (!integer || digits.front() == '0') return token;
  if (token.starts_with('-')) return {token.data(), digits.size() + 1};
  return digits;
}

}  // namespace

bool EdnScanner::fail(std::string_view expected) {
  if (!failed_) expected_ = expected;
  failed_ = true;
  return false;
}

bool EdnScanner::refuse(std::size_t at, std::string_view expected) {
  at_ = at;
  refused_ = true;
  return fail(expected);
}

void EdnScanner::rewind(std::size_t at) {
  at_ = at;
  failed_ = refused_ = false;
}

// A comment or a discarded form. False where it only looks like one, or is malformed.
bool EdnScanner::skip_special() {
  if (text_[at_] == ';') return skip_comment(), true;
  return text_.substr(at_, 2) == "#_" && skip_discarded();
}

void EdnScanner::skip_comment() { at_ = std::min(text_.find('\n', at_), text_.size()); }

bool EdnScanner::skip_discarded() {
  at_ += 2;
  return any_form(nullptr);
}

bool EdnScanner::fail_expecting(char character) {
  switch (character) {
    case '[':
      return fail("expected [");
    case ']':
      return fail("expected ]");
    case ')':
      return fail("expected )");
    case '{':
      return fail("expected {");
    default:
      return fail("expected }");
  }
}

bool EdnScanner::token(std::string_view& out) {
  peek();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_ordinary(text_[at_])) ++at_;
  if (failed_ || at_ == begin) return fail("expected a keyword, symbol or number");
  out = text_.substr(begin, at_ - begin);
  return true;
}

bool EdnScanner::integer(std::int64_t& out) {
  std::string_view digits;
  peek();
  const std::size_t begin = at_;
  if (token(digits) && parse_integer(digits, out)) return true;
  if (!at_end()) at_ = begin;
  return fail("expected an integer of 64 bits");
}

bool EdnScanner::string(std::string& out) {
  if (peek() != '"') return fail("expected a string");
  for (++at_; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') return ++at_, true;
    if (c == '\\' && ++at_ < text_.size()) {
      c = text_[at_];
      if (c == 'u') {
        if (const std::size_t read = append_unicode_escape(text_, at_ + 1, out); read > 0) {
          at_ += read;
          continue;
        }
      }
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'r') c = '\r';
      if (c == 'b') c = '\b';
      if (c == 'f') c = '\f';
    }
    out.push_back(c);
  }
  return fail("expected the end of a string");
}

// Up to 18 digits, which nearly all values are.
bool EdnScanner::small_integer(Value& out) {
  std::size_t at = at_ + (text_[at_] == '-' ? 1 : 0);
  const std::size_t digits = at;
  const std::size_t end = std::min(text_.size(), digits + 18);
  std::int64_t number = 0;
  for (; at < end && text_[at] >= '0' && text_[at] <= '9'; ++at) {
    number = 10 * number + (text_[at] - '0');
  }
  if (at == digits || (at < text_.size() && is_ordinary(text_[at]))) return false;
  out = Value(digits == at_ ? number : -number);
  at_ = at;
  return true;
}

bool EdnScanner::value(Value& out) {
  const char first = peek();
  if (failed_ || at_end()) return fail("expected a value");
  if (small_integer(out)) return true;
  const std::size_t begin = at_;
  if (is_ordinary(first) && first != '#' && first != '\\') {
    std::string_view word;
    if (!token(word)) return false;
    std::int64_t number = 0;
    if (parse_integer(word, number)) return out = Value(number), true;
    if (word == "nil") return out = Value(), true;
    at_ = begin;
  }
  scratch_.clear();
  in_value_ = true;
  const bool found = any_form(&scratch_);
  in_value_ = false;
  if (!found) return false;
  out = Value::symbol(scratch_);
  return true;
}

bool EdnScanner::form(std::string& out) { return any_form(&out); }
bool EdnScanner::skip_form() { return any_form(nullptr); }

void EdnScanner::skip_tags() {
  while (peek() == '#' && at_ + 1 < text_.size() && is_ordinary(text_[at_ + 1])) {
    std::string_view tag;
    if (!token(tag)) return;
  }
}

bool EdnScanner::any_form(std::string* out) {
  if (depth_ >= kDepthMax) return fail("expected fewer levels of nesting");
  ++depth_;
  const bool found = any_form_inner(out);
  --depth_;
  return found;
}

bool EdnScanner::any_form_inner(std::string* out) {
  switch (peek()) {
    case '[':
      return collection(']', false, out);
    case '(':
      return collection(')', false, out);
    case '{':
      return collection('}', true, out);
    case '"':
      return canonical_string(out);
    case '\\':
      return character(out);
    case '#':
      return hash_form(out);
    case ']':
    case ')':
    case '}':
      return fail("expected a value");
    default:
      return plain_token(out);
  }
}

// Sets, tagged values, ##Inf, and the regular expressions that Clojure prints.
bool EdnScanner::hash_form(std::string* out) {
  const char second = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
  if (second == '#') return plain_token(out);
  if (second == '{' || second == '"') {
    ++at_;
    if (out != nullptr) out->push_back('#');
    return second == '{' ? collection('}', false, out) : raw_string(out);
  }
  if (!plain_token(out)) return false;
  if (out != nullptr) out->push_back(' ');
  return any_form(out);
}

// Puts the entries of a map, or the elements of a set, into the order of their texts. `begins` is
// where each form begins in `out`, which ends behind the last one.
bool EdnScanner::sort_entries(std::size_t at, const std::vector<std::size_t>& begins, bool is_map,
                              std::string& out) {
  if (begins.empty()) return true;
  const std::size_t forms = is_map ? 2 : 1;
  if (begins.size() % forms != 0) return refuse(at, "expected a value for each key of a map");
  const std::string text = out.substr(begins.front());
  std::vector<std::pair<std::string_view, std::string_view>> entries;  // key (a set's: all), entry
  for (std::size_t i = 0; i < begins.size(); i += forms) {
    const auto end = [&](std::size_t next, std::size_t separator) {
      return next < begins.size() ? begins[next] - separator : out.size();
    };
    const auto part = [&](std::size_t form_end) {
      return std::string_view(text).substr(begins[i] - begins.front(), form_end - begins[i]);
    };
    entries.emplace_back(part(end(i + 1, 1)), part(end(i + forms, forms)));
  }
  std::sort(entries.begin(), entries.end());
  const auto twice =
      std::adjacent_find(entries.begin(), entries.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != entries.end()) {
    return refuse(at, is_map ? "expected a map with different keys"
                             : "expected a set with different elements");
  }
  out.resize(begins.front());
  for (const auto& [key, entry] : entries) {
    if (out.size() > begins.front()) out.append(is_map ? ", " : " ");
    out.append(entry);
  }
  return true;
}

bool EdnScanner::collection(char close, bool is_map, std::string* out) {
  const std::size_t begin = at_;
  const bool sorts = in_value_ && close == '}' && out != nullptr;
  std::vector<std::size_t> begins;
  const bool is_list = in_value_ && close == ')';
  if (out != nullptr) out->push_back(is_list ? '[' : text_[at_]);
  ++at_;
  for (std::size_t elements = 0;; ++elements) {
    const char next = peek();
    if (failed_) return false;
    if (at_ >= text_.size()) return fail("expected the end of a collection");
    if (next == close) break;
    if (out != nullptr && elements > 0) out->append(is_map && elements % 2 == 0 ? ", " : " ");
    if (sorts) begins.push_back(out->size());
    if (!any_form(out)) return false;
  }
  ++at_;
  if (sorts && !sort_entries(begin, begins, is_map, *out)) return false;
  if (out != nullptr) out->push_back(is_list ? ']' : close);
  return true;
}

bool EdnScanner::raw_string(std::string* out) {
  const std::size_t begin = at_;
  for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\') ++at_;
  }
  if (at_ >= text_.size()) return at_ = text_.size(), fail("expected the end of a string");
  ++at_;
  if (out != nullptr) out->append(text_.substr(begin, at_ - begin));
  return true;
}

bool EdnScanner::canonical_string(std::string* out) {
  const std::size_t begin = at_;
  if (!raw_string(nullptr)) return false;
  if (out == nullptr) return true;
  const std::string_view raw = text(begin, at_);
  if (raw.find_first_of("\\\n\r\t") == raw.npos) return out->append(raw), true;
  std::string resolved;
  EdnScanner(raw).string(resolved);
  out->append(edn_string(resolved));
  return true;
}

// \a, \newline, \(
bool EdnScanner::character(std::string* out) {
  const std::size_t begin = at_;
  at_ += 2;
  while (at_ < text_.size() && is_ordinary(text_[at_])) ++at_;
  if (at_ > text_.size()) return at_ = text_.size(), fail("expected a character");
  if (out != nullptr) out->append(text_.substr(begin, at_ - begin));
  return true;
}

bool EdnScanner::plain_token(std::string* out) {
  std::string_view word;
  if (!token(word)) return false;
  std::int64_t number = 0;
  if (out == nullptr) return true;
  parse_integer(word, number) ? out->append(std::to_string(number))
                              : out->append(canonical_token(word));
  return true;
}

std::string edn_string(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        quoted += c;
    }
  }
  return quoted + '"';
}

std::string edn_keyword(std::string_view text) {
  const bool valid = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return EdnScanner::is_ordinary(c) && c != '\\' && c != '#' &&
           static_cast<unsigned char>(c) > ' ';
  });
  return valid ? ':' + std::string(text) : edn_string(text);
}

}  // namespace ordeal
