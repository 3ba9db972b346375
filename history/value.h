// One scalar of a history: a key, an appended element, a register's value. 8 bytes, compared and
// hashed as such. Integers of up to 63 bits are held inline; anything else (strings, keywords,
// vectors, larger numbers, nil) is a symbol, interned once per process by its EDN text.
//
// Thread-safe. Symbols live until the process ends. Order symbols by text(), never by bits(): the
// numbers given to symbols depend on the order of interning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace ordeal {

class Value {
 public:
  constexpr Value() = default;  // nil
  explicit Value(std::int64_t integer);
  // `edn` is the text as EDN prints it: `"a"` with its quotes, `:k`, `[:pg 1]`, `nil`, `1.5`.
  static Value symbol(std::string_view edn);

  bool is_nil() const { return bits_ == kNil; }
  bool is_integer() const { return (bits_ & 1U) == 0; }  // held inline
  std::int64_t integer() const { return static_cast<std::int64_t>(bits_) >> 1; }
  std::string text() const;  // EDN
  std::uint64_t bits() const { return bits_; }

  friend bool operator==(Value, Value) = default;

 private:
  static constexpr std::uint64_t kNil = 1;  // symbol 0
  constexpr explicit Value(std::uint64_t bits, int) : bits_(bits) {}

  std::uint64_t bits_ = kNil;
};

// Total order independent of interning: integers by size, before symbols by text.
bool value_less(Value a, Value b);

}  // namespace ordeal

template <>
struct std::hash<ordeal::Value> {
  std::size_t operator()(ordeal::Value value) const noexcept {
    return std::hash<std::uint64_t>{}(value.bits() * 0x9e3779b97f4a7c15U);
  }
};
