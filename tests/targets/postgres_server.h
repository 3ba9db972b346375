// A real PostgreSQL on this machine for a test; hosts n2, ... of standbys where wanted, and a
// system upstream.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "targets/postgres/connection.h"
#include "tests/targets/server_fixture.h"

namespace ordeal {

struct Standbys {
  std::size_t count = 0;
  std::chrono::milliseconds step_timeout{60'000};
  const Target* upstream = nullptr;
};

class PostgresServer : public ServerFixture {
 public:
  // Does not start anything; `settings` are the target's, `workload_settings` the workload's.
  explicit PostgresServer(ServerSettings settings = {}, std::string workload = "list-append",
                          ServerSettings workload_settings = {}, Standbys standbys = {});

  std::unique_ptr<postgres::Connection> connection(std::string_view isolation = "read-committed",
                                                   std::string prepare = "");
};

}  // namespace ordeal
