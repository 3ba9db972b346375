#include "tests/targets/postgres_server.h"

#include <catch2/catch.hpp>
#include <utility>

namespace ordeal {
namespace {

FixtureInput input(ServerSettings settings, std::string workload, ServerSettings workload_settings,
                   const Standbys& standbys) {
  settings.emplace("settings.fsync", "off");  // a test need not wait for the disk
  for (std::size_t number = 2; number <= standbys.count + 1; ++number) {
    settings["standbys"] += fmt::format("n{},", number);
  }
  return {.target = "postgres",
          .settings = std::move(settings),
          .workload = std::move(workload),
          .workload_settings = std::move(workload_settings),
          .hosts = standbys.count + 1,
          .step_timeout = standbys.step_timeout,
          .upstream = standbys.upstream};
}

}  // namespace

PostgresServer::PostgresServer(ServerSettings settings, std::string workload,
                               ServerSettings workload_settings, Standbys standbys)
    : ServerFixture(input(std::move(settings), std::move(workload), std::move(workload_settings),
                          standbys)) {}

std::unique_ptr<postgres::Connection> PostgresServer::connection(std::string_view isolation,
                                                                 std::string prepare) {
  auto connection = postgres::Connection::open(endpoint(), isolation, std::move(prepare), {});
  if (!connection) FAIL(connection.error().message);
  return std::move(*connection);
}

}  // namespace ordeal
