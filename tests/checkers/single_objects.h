// Histories of single objects in shorthand: the events of processes in order, a millisecond each,
// with values as EDN. pair() is an invocation and its completion with nothing in between.
#pragma once

#include <string_view>

#include "history/edn_payload.h"
#include "tests/checkers/shorthand.h"

namespace ordeal::test {

class Events {
 public:
  Events& event(std::int64_t process, Phase phase, std::string_view function,
                std::string_view edn) {
    builder_.add({index_, std::chrono::milliseconds(index_), ProcessId{process}, phase,
                  std::string(function), edn_payload(function, edn), ""});
    ++index_;
    return *this;
  }
  Events& invoke(std::int64_t process, std::string_view function, std::string_view edn = "nil") {
    return event(process, Phase::invoke, function, edn);
  }
  Events& ok(std::int64_t process, std::string_view function, std::string_view edn) {
    return event(process, Phase::ok, function, edn);
  }
  Events& fail(std::int64_t process, std::string_view function, std::string_view edn) {
    return event(process, Phase::fail, function, edn);
  }
  Events& info(std::int64_t process, std::string_view function, std::string_view edn) {
    return event(process, Phase::info, function, edn);
  }
  // Of a write: both events have the value.
  Events& pair(std::string_view function, std::string_view edn, Phase phase = Phase::ok) {
    return invoke(9, function, edn).event(9, phase, function, edn);
  }
  // Of a read: the completion alone has it.
  Events& get(std::string_view function, std::string_view edn) {
    return invoke(9, function).ok(9, function, edn);
  }

  CheckResult check(std::string_view checker, Options::Given given = {}) {
    return test::check(checker, std::move(builder_).build(), std::move(given));
  }

 private:
  HistoryBuilder builder_;
  std::uint64_t index_ = 0;
};

using Fields = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

}  // namespace ordeal::test
