#include "tests/targets/mariadb_server.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <utility>

#include "tests/targets/transactions.h"

namespace ordeal {
namespace {

FixtureInput input(ServerSettings settings, std::string workload, ServerSettings workload_settings,
                   std::size_t hosts, const std::string& kind) {
  // A test need not wait for the disk.
  settings.emplace("settings.debug_no_sync", "ON");
  for (std::size_t number = kind == "galera" ? 1 : 2; number <= hosts && hosts > 1; ++number) {
    settings[kind] += fmt::format("n{},", number);
  }
  // Galera's ports are not to be chosen: addresses of this process' own.
  const auto process = static_cast<unsigned>(::getpid());
  return {.target = "mariadb",
          .settings = std::move(settings),
          .workload = std::move(workload),
          .workload_settings = std::move(workload_settings),
          .hosts = hosts,
          .network = fmt::format("127.{}.{}", 1 + process / 256 % 254, process % 256)};
}

}  // namespace

MariaDbServer::MariaDbServer(ServerSettings settings, std::string workload,
                             ServerSettings workload_settings, std::size_t hosts,
                             const std::string& kind)
    : ServerFixture(input(std::move(settings), std::move(workload), std::move(workload_settings),
                          hosts, kind)) {}

std::unique_ptr<mariadb::Connection> MariaDbServer::connection(const Host& to,
                                                               std::string_view isolation) {
  auto connection = mariadb::Connection::open(endpoint(to), isolation, {});
  if (!connection) FAIL(connection.error().message);
  return std::move(*connection);
}

void MariaDbServer::execute(const std::string& sql) {
  const auto done = connection()->execute(sql, {});
  if (!done) FAIL(done.error().message);
}

std::int64_t MariaDbServer::count(const std::string& condition) {
  return sql::integer(query(*connection(), "SELECT COUNT(*) FROM " + condition));
}

}  // namespace ordeal
