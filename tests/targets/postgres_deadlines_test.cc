// Operations that end before the server answers: their time is up, or the run is stopped.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/outcome_probe.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;
using postgres::Connection;

void frozen_before_commit(PostgresServer& server) {
  auto a = server.connection();
  const auto trouble = run_around(
      *a, "UPDATE t SET v = 1", [&] { server.control(server.server().pause); }, "SELECT 1");
  CHECK_THAT(described(trouble), StartsWith("fail time-out: no answer within 1000 ms"));
  CHECK_FALSE(a->connected());
  server.control(server.server().resume);
  CHECK(count(server, "t WHERE v = 1") == 0);
}

// Unknown, and here it did happen.
void frozen_around_commit(PostgresServer& server) {
  auto a = server.connection();
  const auto trouble = run_around(
      *a, "UPDATE t SET v = 1", [&] { server.control(server.server().pause); }, "");
  CHECK_THAT(described(trouble), StartsWith("info time-out"));
  CHECK_FALSE(a->connected());
  server.control(server.server().resume);
  CHECK(until([&] { return count(server, "t WHERE v = 1") == 2; }));
}

void frozen_while_connecting(PostgresServer& server) {
  server.control(server.server().pause);
  const auto start = std::chrono::steady_clock::now();
  const auto connection = Connection::open(server.endpoint(), "serializable", "", {});
  REQUIRE_FALSE(connection);
  CHECK_THAT(connection.error().message, Catch::Contains("time-out"));
  CHECK(std::chrono::steady_clock::now() - start < 4s);
  server.control(server.server().resume);
  server.connection();
}

void long_commit(PostgresServer& server) {
  auto a = server.connection();
  CHECK_THAT(described(run(*a, {"INSERT INTO slow VALUES (4)"})), StartsWith("info time-out"));
  CHECK_FALSE(a->connected());
}

TEST_CASE("outcomes: a frozen server, and a COMMIT longer than an operation may last") {
  PostgresServer server(ServerSettings{{"operation-timeout", "1s"}});
  server.up();
  make_tables(server);
  for (const auto scenario :
       {frozen_before_commit, frozen_around_commit, frozen_while_connecting, long_commit}) {
    scenario(server);
  }
}

TEST_CASE("outcomes: a stop request ends an operation at once") {
  PostgresServer server(ServerSettings{{"operation-timeout", "30s"}});
  server.up();
  make_tables(server);
  auto a = server.connection();
  std::stop_source source;
  const auto start = std::chrono::steady_clock::now();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    source.request_stop();
  });
  SECTION("in a statement") {
    const auto trouble =
        a->transact(source.get_token(), [](const Execute& exec) -> std::optional<std::string> {
          exec("SELECT pg_sleep(20)");
          return std::nullopt;
        });
    CHECK_THAT(described(trouble), StartsWith("fail stopped"));
  }
  SECTION("in COMMIT") {
    const auto trouble =
        a->transact(source.get_token(), [](const Execute& exec) -> std::optional<std::string> {
          exec("INSERT INTO slow VALUES (5)");
          return std::nullopt;
        });
    CHECK_THAT(described(trouble), StartsWith("info stopped"));
  }
  SECTION("connecting to a frozen server") {
    server.control(server.server().pause);
    const auto connection =
        Connection::open(server.endpoint(), "serializable", "", source.get_token());
    REQUIRE_FALSE(connection);
    CHECK(connection.error().kind == ErrorKind::stopped);
  }
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

}  // namespace
}  // namespace ordeal
