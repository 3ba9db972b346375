// A real MariaDB on this machine for a test; hosts n2, ... of replicas or of a Galera cluster where
// wanted.
#pragma once

#include <memory>
#include <string>

#include "targets/mariadb/connection.h"
#include "tests/targets/server_fixture.h"

namespace ordeal {

class MariaDbServer : public ServerFixture {
 public:
  // Does not start anything; `settings` are the target's, `workload_settings` the workload's. More
  // hosts than one are named by `kind`, a setting: "replicas" or "galera".
  explicit MariaDbServer(ServerSettings settings = {}, std::string workload = "list-append",
                         ServerSettings workload_settings = {}, std::size_t hosts = 1,
                         const std::string& kind = "");

  std::unique_ptr<mariadb::Connection> connection(std::string_view isolation = "read-committed") {
    return connection(host(), isolation);
  }
  std::unique_ptr<mariadb::Connection> connection(const Host& to, std::string_view isolation);
  // Outside a transaction, in a connection of its own.
  void execute(const std::string& sql);
  // Rows of "TABLE" or "TABLE WHERE CONDITION".
  std::int64_t count(const std::string& condition);
};

}  // namespace ordeal
