#include "history/json_scanner.h"

#include <algorithm>
#include <array>

#include "history/escapes.h"

namespace ordeal {
namespace {

// Deeper nesting than any history has; bounds the stack on hostile input.
constexpr int kDepthMax = 500;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool JsonScanner::fail(std::string_view expected) {
  if (!failed_) expected_ = expected;
  failed_ = true;
  return false;
}

bool JsonScanner::fail_at(std::size_t at, std::string_view expected) {
  at_ = at;
  return fail(expected);
}

char JsonScanner::peek() {
  if (failed_) return '\0';
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') return c;
    ++at_;
  }
  return '\0';
}

bool JsonScanner::consume_if(char character) {
  if (peek() != character || failed_ || at_ >= text_.size()) return false;
  ++at_;
  return true;
}

bool JsonScanner::consume(char expected, std::string_view otherwise) {
  return consume_if(expected) || fail(otherwise);
}

bool JsonScanner::enter(char open) {
  if (!consume(open, open == '[' ? "expected an array" : "expected an object")) return false;
  if (++depth_ <= kDepthMax) return true;
  --at_;
  return fail("expected fewer levels of nesting");
}

bool JsonScanner::next(bool& first, char close) {
  if (consume_if(close)) {
    --depth_;
    return false;
  }
  if (!first && !consume(',', close == ']' ? "expected , or ]" : "expected , or }")) return false;
  first = false;
  return !failed_;
}

bool JsonScanner::key(std::string& out) {
  if (peek() != '"') return fail("expected a key, a string");
  return string(out) && consume(':', "expected : behind a key");
}

bool JsonScanner::string(std::string& out) {
  if (!consume('"', "expected a string")) return false;
  while (at_ < text_.size()) {
    const std::size_t end = std::min(text_.find_first_of("\"\\\n", at_), text_.size());
    out.append(text_.substr(at_, end - at_));
    at_ = end;
    if (end == text_.size() || text_[end] == '\n') break;
    if (text_[at_++] == '"') return true;
    if (!escape(out)) return false;
  }
  return fail("expected the end of a string");
}

// Behind the backslash.
bool JsonScanner::escape(std::string& out) {
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (at_ >= text_.size()) return fail("expected the end of a string");
  const std::size_t which = kNames.find(text_[at_]);
  if (which != std::string_view::npos) {
    out.push_back(kMeanings[which]);
    return ++at_, true;
  }
  const std::size_t read = text_[at_] == 'u' ? append_unicode_escape(text_, at_ + 1, out) : 0;
  if (read > 0) return at_ += 1 + read, true;
  // Cut off within its digits, it is only half there.
  if (text_[at_] == 'u' &&
      text_.find_first_not_of("0123456789abcdefABCDEF", at_ + 1) == std::string_view::npos) {
    at_ = text_.size();
  }
  return fail("expected an escape such as \\n or \\u0041");
}

bool JsonScanner::digits() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
  return at_ > begin || fail("expected a digit");
}

bool JsonScanner::number(std::string_view& out) {
  peek();
  const std::size_t begin = at_;
  const auto take = [&](std::string_view any) {
    if (at_ >= text_.size() || any.find(text_[at_]) == std::string_view::npos) return false;
    return ++at_, true;
  };
  take("-");
  if (!digits() || (take(".") && !digits())) return false;
  if (take("eE") && (take("+-"), !digits())) return false;
  out = text_.substr(begin, at_ - begin);
  return true;
}

bool JsonScanner::word(std::string_view& out) {
  static constexpr std::array<std::string_view, 6> kWords{"null", "true",     "false",
                                                          "NaN",  "Infinity", "-Infinity"};
  peek();
  const std::string_view here = rest();
  for (const std::string_view word : kWords) {
    if (!here.starts_with(word)) continue;
    at_ += word.size();
    return out = word, true;
  }
  const bool half = std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return !here.empty() && word.starts_with(here);
  });
  if (half) at_ = text_.size();
  return fail("expected a value");
}

bool JsonScanner::skip_value() {
  std::string text;
  std::string_view view;
  const char first = peek();
  if (first == '"') return string(text);
  if (is_digit(first) || (first == '-' && !rest().starts_with("-I"))) return number(view);
  if (first != '[' && first != '{') return word(view);
  if (!enter(first)) return false;
  for (bool is_first = true; next(is_first, first == '[' ? ']' : '}');) {
    if ((first == '{' && !key(text)) || !skip_value()) return false;
    text.clear();
  }
  return !failed_;
}

}  // namespace ordeal
