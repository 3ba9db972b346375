// Client of workload list-append: table lists(id, value), lists as text "1,2,3", as in Jepsen's
// tests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "targets/sql/connection.h"

namespace ordeal::sql {

// How a system says it. Formats of fmt.
struct ListAppendStatements {
  std::string_view setup;
  std::string_view read;    // of key {0}: a row with the list, or none
  std::string_view append;  // to key {0} the element {1}, also where there is no row yet
};

std::unique_ptr<Client> list_append_client(std::unique_ptr<Connection> connection,
                                           const ListAppendStatements& statements);

}  // namespace ordeal::sql
