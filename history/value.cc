#include "history/value.h"

#include <deque>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace ordeal {
namespace {

class SymbolTable {
 public:
  SymbolTable() { intern("nil"); }

  std::uint64_t intern(std::string_view text) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = index_.find(text); found != index_.end()) return found->second;
    }
    const std::unique_lock lock(mutex_);
    if (const auto found = index_.find(text); found != index_.end()) return found->second;
    const std::string& stored = texts_.emplace_back(text);
    return index_.emplace(stored, texts_.size() - 1).first->second;
  }

  std::string text(std::uint64_t symbol) const {
    const std::shared_lock lock(mutex_);
    return texts_[symbol];
  }

 private:
  mutable std::shared_mutex mutex_;
  std::deque<std::string> texts_;  // stable addresses: index_ holds views of them
  std::unordered_map<std::string_view, std::uint64_t> index_;
};

SymbolTable& symbols() {
  static SymbolTable table;
  return table;
}

}  // namespace

Value::Value(std::int64_t integer) : bits_(static_cast<std::uint64_t>(integer) << 1U) {
  if (this->integer() != integer) *this = symbol(std::to_string(integer));
}

Value Value::symbol(std::string_view edn) { return Value((symbols().intern(edn) << 1U) | 1U, 0); }

std::string Value::text() const {
  return is_integer() ? std::to_string(integer()) : symbols().text(bits_ >> 1U);
}

bool value_less(Value a, Value b) {
  if (a.is_integer() && b.is_integer()) return a.integer() < b.integer();
  if (a.is_integer() != b.is_integer()) return a.is_integer();
  return a != b && a.text() < b.text();
}

}  // namespace ordeal
