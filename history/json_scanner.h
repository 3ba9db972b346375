// A scanner for JSON (RFC 8259): reads values from text in memory, one after the other, without
// building a tree, and numbers as they are written. It also knows NaN and Infinity, which Python
// and Jackson write.
//
// Functions return false on failure; then expected(), at() and truncated() say what was wrong,
// where, and whether more text could have helped. Failure is sticky. Not thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace ordeal {

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  char peek();  // the next character that is not blank; '\0' at the end or on failure
  bool consume(char expected, std::string_view otherwise);  // fails with `otherwise`
  bool consume_if(char character);
  bool string(std::string& out);       // appends
  bool number(std::string_view& out);  // as it is written
  bool word(std::string_view& out);    // null, true, false, NaN, Infinity, -Infinity
  bool skip_value();

  // Arrays and objects: enter() takes the opening bracket; while next() is true, an element
  // (of an object: a key, see key()) follows, and when it is not, the closing bracket was taken.
  bool enter(char open);
  bool next(bool& first, char close);
  bool key(std::string& out);  // and the colon

  bool fail(std::string_view expected);
  bool fail_at(std::size_t at, std::string_view expected);
  bool failed() const { return failed_; }
  bool truncated() const { return failed_ && at_ >= text_.size(); }
  std::string_view expected() const { return expected_; }
  std::size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }

 private:
  bool escape(std::string& out);
  bool digits();

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool failed_ = false;
  std::string_view expected_;
};

}  // namespace ordeal
