// A scanner for EDN (https://github.com/edn-format/edn): reads forms from text in memory, one after
// the other, without building a tree. What it hands out as text is canonical, so that two spellings
// of a value compare equal: one space between elements, no comments, entries of maps separated by
// ", ", strings with only the escapes they need, integers without sign + and suffix N. Values are
// canonical beyond that: equal maps, sets and sequences have one text, see value().
//
// Functions return false on failure; then expected(), at() and truncated() say what was wrong,
// where, and whether more text could have helped. Failure is sticky until rewind(). Not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history/value.h"

namespace ordeal {

class EdnScanner {
 public:
  explicit EdnScanner(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  // The next character that is not blank, comma, comment or discarded form; '\0' at the end or on
  // failure.
  char peek() {
    while (!failed_ && at_ < text_.size()) {
      const char c = text_[at_];
      const Kind kind = kKinds[static_cast<unsigned char>(c)];
      if (kind == Kind::blank) {
        ++at_;
      } else if (kind != Kind::special || !skip_special()) {
        return failed_ ? '\0' : c;
      }
    }
    return '\0';
  }
  bool consume(char expected) {  // fails where another character comes
    return consume_if(expected) || fail_expecting(expected);
  }
  bool consume_if(char character) {  // does not fail
    if (peek() != character || failed_ || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool token(std::string_view& out);  // a symbol, keyword, number, nil, true, ...
  bool string(std::string& out);      // "..." with its escapes resolved
  bool integer(std::int64_t& out);
  // Any form. As in Clojure, the order of a map's entries and a set's elements does not count, and
  // a list equals the vector of the same elements. Duplicate keys are refused: see refused().
  bool value(Value& out);
  bool form(std::string& out);  // any form: appends its canonical text
  bool skip_form();
  void skip_tags();  // #jepsen.history.Op before a form

  // Takes the opening bracket of a vector or list; does not fail. `close` is its closing one.
  bool open_sequence(char& close) {
    const char open = peek() == '(' ? '(' : '[';
    close = open == '(' ? ')' : ']';
    return consume_if(open);
  }

  bool fail(std::string_view expected);
  // Fails at `at` with what is wrong in any case, however else the text might be read.
  bool refuse(std::size_t at, std::string_view expected);
  bool failed() const { return failed_; }
  bool refused() const { return failed_ && refused_; }
  bool truncated() const { return failed_ && at_end(); }
  bool at_end() const { return at_ >= text_.size(); }  // then a token may be only half of one
  std::string_view expected() const { return expected_; }

  std::size_t at() const { return at_; }
  void rewind(std::size_t at);
  std::string_view rest() const { return text_.substr(at_); }
  std::string_view text(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }

  // Whether the character can be part of a keyword, symbol or number.
  static bool is_ordinary(char c) {
    return kKinds[static_cast<unsigned char>(c)] == Kind::ordinary || c == '#';
  }

 private:
  enum class Kind : std::uint8_t { ordinary, blank, delimiter, special };
  static constexpr auto kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (const unsigned char c : std::string_view(" \t\n\r\f\v,")) kinds[c] = Kind::blank;
    for (const unsigned char c : std::string_view("()[]{}\"\0", 8)) kinds[c] = Kind::delimiter;
    for (const unsigned char c : std::string_view("#;")) kinds[c] = Kind::special;
    return kinds;
  }();

  bool skip_special();
  bool fail_expecting(char character);
  bool small_integer(Value& out);
  void skip_comment();
  bool skip_discarded();
  bool any_form(std::string* out);
  bool any_form_inner(std::string* out);
  bool hash_form(std::string* out);
  bool collection(char close, bool is_map, std::string* out);
  bool sort_entries(std::size_t at, const std::vector<std::size_t>& begins, bool is_map,
                    std::string& out);
  bool raw_string(std::string* out);
  bool canonical_string(std::string* out);
  bool character(std::string* out);
  bool plain_token(std::string* out);

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  bool refused_ = false;
  bool in_value_ = false;
  std::string_view expected_;
  std::string scratch_;
};

// As EDN prints a string: with quotes and escapes.
std::string edn_string(std::string_view text);
// `:text`, or a string where that is no valid keyword.
std::string edn_keyword(std::string_view text);

}  // namespace ordeal
