// The errors of bank reads by type: how many, the first, the worst and the last of each, as
// jepsen.tests.bank summarises them.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "checkers/checker.h"

namespace ordeal {

class BankErrors {
 public:
  using Json = nlohmann::ordered_json;

  // `error` has "type" and "op", and with wrong-total the "total". The larger `badness`, the worse.
  void add(const Json& error, double badness);
  // Sets error-count, errors and, if there are any, first-error.
  void add_fields(std::map<std::string, std::string>& fields) const;

 private:
  struct Summary {
    std::uint64_t count = 0;
    double badness = 0;
    Json first, worst, last;
    Json lowest, highest;  // by total
  };

  std::uint64_t count_ = 0;
  Json first_;
  std::map<std::string, Summary> by_type_;
};

}  // namespace ordeal
