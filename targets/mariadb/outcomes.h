// What became of a transaction that met an error: the table from MariaDB's error numbers to fail
// and info. docs/outcomes-mariadb.md prints and argues it; tests provoke its classes on a real
// server.
//
// Numbers: MariaDB's documentation, "MariaDB Error Code Reference".
#pragma once

#include <span>
#include <string_view>

#include "targets/sql/outcomes.h"

namespace ordeal::mariadb {

inline constexpr std::string_view kTooManyConnections = "1040";

// Their codes are beginnings of error numbers.
std::span<const sql::OutcomeRule> outcome_rules();

}  // namespace ordeal::mariadb
