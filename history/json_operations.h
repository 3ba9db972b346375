// Turns operations that are JSON objects, with the keys of Jepsen's EDN, into EDN. JSON has no
// keywords and no keys but strings, so: a string that starts with ":" is a keyword; {"edn": "..."}
// is any form, as EDN text; a key that looks like an integer is one.
#pragma once

#include <string>
#include <string_view>

#include "history/json_scanner.h"

namespace ordeal {

// Appends the next value, which must be an object with a type and a process. False where the
// scanner failed.
bool append_operation_edn(JsonScanner& scanner, std::string& edn);

// A key of a map, e.g. an account, as EDN.
std::string json_key_edn(const std::string& key);

}  // namespace ordeal
