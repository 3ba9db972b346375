// The lifecycle of a real server: created, started, broken, healed, stopped.
#include <catch2/catch.hpp>
#include <thread>

#include "targets/mariadb/server_scripts.h"
#include "tests/targets/mariadb_server.h"
#include "tests/targets/transactions.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

bool is_ready(MariaDbServer& server, std::chrono::milliseconds timeout = 30s) {
  const auto ready = server.target().await_ready(server.host(), timeout, {});
  if (!ready) UNSCOPED_INFO(ready.error().message);
  return ready.has_value();
}

TEST_CASE("mariadb: start, kill, stop are idempotent, and committed rows survive a kill") {
  MariaDbServer server;
  server.up();
  REQUIRE(server.target().start(server.host(), {}));
  server.execute("CREATE TABLE t AS SELECT 7 AS x");
  CHECK(server.processes() == 1);
  for (int round = 0; round < 2; ++round) {
    server.control(server.server().kill);
    CHECK(server.state(server.host()) == "absent\n");
    server.control(server.server().kill);
    server.control(server.server().start);
    server.control(server.server().start);
    REQUIRE(is_ready(server));
    CHECK(query(*server.connection(), "SELECT x FROM t") == "7");
  }
  CHECK(server.target().members(server.host()).value() == std::vector<std::string>{"n1"});
  for (int twice = 0; twice < 2; ++twice) {
    REQUIRE(server.target().stop(server.host()));
    CHECK(server.processes() == 0);
  }
  CHECK_THAT(text_of(server.place() / "mariadb.log"), Catch::Contains("Shutdown complete"));
}

TEST_CASE("mariadb: two starts at once make one server") {
  MariaDbServer server;
  REQUIRE(server.target().install(server.host(), {}));
  {
    std::jthread one([&] { CHECK(server.target().start(server.host(), {})); });
    std::jthread two([&] { CHECK(server.target().start(server.host(), {})); });
  }
  CHECK(is_ready(server));
  CHECK(server.processes() == 1);
}

TEST_CASE("mariadb: pause freezes all of it, resume thaws it, stop works on a frozen one") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "300ms"}});
  server.up();
  for (int twice = 0; twice < 2; ++twice) server.control(server.server().pause);
  CHECK(server.state(server.host()) == "stopped\n");
  CHECK_FALSE(is_ready(server, 600ms));
  for (int twice = 0; twice < 2; ++twice) server.control(server.server().resume);
  CHECK(is_ready(server));
  CHECK(std::stod(server.control(server.server().age)) > 0);
  server.control(server.server().pause);
  REQUIRE(server.target().stop(server.host()));
  CHECK(server.processes() == 0);
}

TEST_CASE("mariadb: the clock of the server moves alone, and its time-outs keep working") {
  MariaDbServer server;
  server.up();
  server.execute("CREATE TABLE t AS SELECT 7 AS x");
  const auto becomes = [&](double offset) {
    return until([&] {
      return std::abs(std::stod(server.control(server.server().clock_reading)) - offset) < 0.5;
    });
  };
  CHECK(becomes(0));
  for (const double offset : {3600.0, -120.5, 0.0}) {
    CAPTURE(offset);
    Command command = server.server().clock_offset;
    command.arguments.push_back(fmt::format("{:+}", offset));
    server.control(command);
    CHECK(becomes(offset));
    const auto start = std::chrono::steady_clock::now();
    const auto holder = server.connection();
    const auto trouble = run_around(
        *holder, "SELECT x FROM t FOR UPDATE",
        [&] {
          CHECK_FALSE(server.connection()->execute(
              "SET innodb_lock_wait_timeout = 1; SELECT x FROM t FOR UPDATE", {}));
        },
        "");
    CHECK(described(trouble) == "ok");
    CHECK(std::chrono::steady_clock::now() - start > 800ms);
    CHECK(std::chrono::steady_clock::now() - start < 4s);
  }
}

TEST_CASE("mariadb: what an earlier run left makes way, also where its server still runs") {
  MariaDbServer server;
  server.up();
  server.execute("CREATE TABLE t AS SELECT 7 AS x");
  SECTION("running") {}
  SECTION("frozen") { server.control(server.server().pause); }
  server.up();
  CHECK(server.count("information_schema.tables WHERE table_name = 't'") == 0);
}

TEST_CASE("mariadb: settings, version, log, a change that is made durable") {
  MariaDbServer server(ServerSettings{{"settings.sort_buffer_size", "300K"},
                                      {"settings.init_connect", "SET @x = 'it\\'s \"7\"'"}});
  server.up();
  CHECK(query(*server.connection(), "SELECT @@sort_buffer_size") == "307200");
  CHECK(query(*server.connection(), "SELECT @@init_connect") == "SET @x = 'it\\'s \"7\"'");
  CHECK_THAT(server.target().version(server.host()).value(), Catch::Contains("10.11."));
  const auto into = server.directory() / "downloaded";
  REQUIRE(server.target().download_logs(server.host(), into));
  CHECK_THAT(text_of(into / "mariadb.log"), Catch::Contains("ready for connections"));
  for (int twice = 0; twice < 2; ++twice) server.control(server.server().commit);
  CHECK(query(*server.connection(), "SELECT changes FROM durable") == "2");
}

TEST_CASE("mariadb: what is wrong with the surroundings is said before anything starts") {
  const auto refusal = [](MariaDbServer& server, ErrorKind kind) {
    const auto installed = server.target().install(server.host(), {});
    REQUIRE_FALSE(installed);
    CHECK(installed.error().kind == kind);
    return installed.error().message;
  };
  SECTION("a version that is not there") {
    MariaDbServer server(ServerSettings{{"version", "11.4"}});
    CHECK_THAT(refusal(server, ErrorKind::surroundings),
               Catch::StartsWith("n1: there is MariaDB 10.11.") &&
                   Catch::Contains("and the target's version is 11.4"));
  }
  SECTION("settings that MariaDB refuses") {
    const auto refused = [&](const std::string& name, const std::string& value) {
      MariaDbServer server(ServerSettings{{"settings." + name, value}});
      return refusal(server, ErrorKind::bad_input);
    };
    CHECK(refused("no_such", "1") ==
          "n1: MariaDB 10.11 refuses no_such = '1': unknown variable 'no_such=1'; correct or "
          "remove target.mariadb.settings.no_such in the campaign");
    CHECK_THAT(refused("binlog_format", "BAD"), Catch::Contains("Error while setting value"));
    CHECK_THAT(refused("innodb_buffer_pool_size", "abc"), Catch::Contains("Unknown suffix 'a'"));
    CHECK_THAT(refused("max_connections", "1"), Catch::Contains("adjusted to 10"));
  }
  SECTION("starting what was never created") {
    MariaDbServer server;
    CHECK_FALSE(server.target().start(server.host(), {}));
  }
}

TEST_CASE("mariadb: an end while starting is said with the last lines of the log") {
  MariaDbServer server;
  server.up();
  server.control(server.server().kill);
  const auto ready = server.target().await_ready(server.host(), 60s, {});
  REQUIRE_FALSE(ready);
  CHECK_THAT(ready.error().message, Catch::Contains("MariaDB ended while it started") &&
                                        Catch::Contains("ready for connections"));
}

TEST_CASE("mariadb: settings that make no sense are refused as input") {
  const Cluster cluster = fake_cluster(3);
  const auto make = [&](const Options::Given& given) {
    return make_target("mariadb", "list-append", given, cluster);
  };
  const auto given = [](const std::map<std::string, std::string>& settings) {
    Options::Given all;
    for (const auto& [name, value] : settings) all[name] = {value, "test"};
    return all;
  };
  REQUIRE(make({}));
  REQUIRE(make(given({{"replicas", "n2, n3"}, {"semi-sync", "true"}})));
  REQUIRE(make(given({{"galera", "n1, n2, n3"}})));
  const std::vector<std::map<std::string, std::string>> wrong = {
      {{"settings.port", "1"}},
      {{"settings.x", "1\nskip_networking"}},
      {{"settings.x = 1 #", "1"}},
      {{"version", "eleven"}},
      {{"host", "n7"}},
      {{"replicas", "n7"}},
      {{"replicas", "n1"}},
      {{"replicas", "n2, n2"}},
      {{"semi-sync", "true"}},
      {{"galera", "n1, n2"}},
      {{"galera", "n1"}},
      {{"galera", "n1, n2, n2"}},
      {{"galera", "n1, n2, n3"}, {"replicas", "n2"}},
      {{"galera", "n1, n2, n3"}, {"host", "n2"}},
      {{"galera", "n1, n2, n3"}, {"semi-sync", "true"}}};
  for (const auto& settings : wrong) {
    CAPTURE(settings.begin()->first, settings.begin()->second);
    const auto made = make(given(settings));
    REQUIRE_FALSE(made);
    CHECK(made.error().kind == ErrorKind::bad_input);
  }
}

}  // namespace
}  // namespace ordeal
