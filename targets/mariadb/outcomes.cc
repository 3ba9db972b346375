#include "targets/mariadb/outcomes.h"

#include <array>

namespace ordeal::mariadb {
namespace {

using enum sql::Effect;

// In answer to COMMIT only a deadlock is known to mean that nothing was committed: there it is what
// Galera's certification says (docs/outcomes-mariadb.md).
constexpr std::array kRules = std::to_array<sql::OutcomeRule>({
    {"1213", "deadlock", fail, fail},
    {"1205", "lock-wait-timeout", fail, info},
    {"1020", "record-changed", fail, info},
    {"1047", "node-not-prepared", fail, info},
    {"1180", "error-during-commit", fail, info},
    {"1022", "constraint-violation", fail, info},
    {"1048", "constraint-violation", fail, info},
    {"1062", "constraint-violation", fail, info},
    {"1451", "constraint-violation", fail, info},
    {"1452", "constraint-violation", fail, info},
    {"4025", "constraint-violation", fail, info},
    {"1264", "data-exception", fail, info},
    {"1366", "data-exception", fail, info},
    {"1406", "data-exception", fail, info},
    {"1690", "data-exception", fail, info},
    {"1044", "syntax-or-access", fail, info},
    {"1049", "syntax-or-access", fail, info},
    {"1054", "syntax-or-access", fail, info},
    {"1064", "syntax-or-access", fail, info},
    {"1142", "syntax-or-access", fail, info},
    {"1146", "syntax-or-access", fail, info},
    {"1290", "read-only", fail, info},
    {"1792", "read-only", fail, info},
    {"1644", "raised-by-procedure", fail, info},
    {"1317", "query-interrupted", fail, info},
    {"1969", "statement-timeout", fail, info},
    {"1927", "connection-killed", fail, info},
    {"1053", "server-shutdown", fail, info},
    {kTooManyConnections, "too-many-connections", fail, info},
    {"1203", "too-many-connections", fail, info},
    {"1021", "insufficient-resources", fail, info},
    {"1037", "insufficient-resources", fail, info},
    {"1038", "insufficient-resources", fail, info},
    {"1041", "insufficient-resources", fail, info},
    {"1114", "insufficient-resources", fail, info},
    {"1153", "limit-exceeded", fail, info},
    {"1158", "connection-exception", fail, info},
    {"1159", "connection-exception", fail, info},
    {"1160", "connection-exception", fail, info},
    {"1161", "connection-exception", fail, info},
    {"1030", "storage-error", fail, info},
    {"1034", "storage-error", fail, info},
    {"1877", "storage-error", fail, info},
    {"1932", "storage-error", fail, info},
    {sql::kConnectionLost, "connection-lost", fail, info},
    {sql::kTimedOut, "time-out", fail, info},
    {sql::kStopped, "stopped", fail, info},
    {sql::kClientBug, "client-error", fail, info},
    {"", "other", fail, info},
});

}  // namespace

std::span<const sql::OutcomeRule> outcome_rules() { return kRules; }

}  // namespace ordeal::mariadb
