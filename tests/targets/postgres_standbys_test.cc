// A primary and its streaming standbys, as real servers on loopback addresses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "targets/target.h"
#include "tests/targets/postgres_server.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using sql::Execute;

std::string count_on(PostgresServer& server, const std::string& host) {
  auto connection =
      postgres::Connection::open(server.endpoint(server.host(host)), "read-committed", "", {});
  if (!connection) return connection.error().message;
  std::string answer;
  const auto trouble = (*connection)->transact({}, [&](const Execute& execute) {
    answer = execute("SELECT count(*) FROM t")[0][0];
    return std::nullopt;
  });
  return trouble ? "trouble" : answer;
}

bool comes_to_count(PostgresServer& server, const std::string& host, const std::string& count) {
  for (int i = 0; i < 300; ++i) {
    if (count_on(server, host) == count) return true;
    std::this_thread::sleep_for(50ms);
  }
  UNSCOPED_INFO(host << ": " << count_on(server, host));
  return false;
}

std::optional<Outcome> insert(postgres::Connection& connection) {
  return connection.transact({}, [](const Execute& execute) {
    execute("INSERT INTO t VALUES (1)");
    return std::nullopt;
  });
}

void create_table(PostgresServer& server) {
  REQUIRE(server.connection()->execute("CREATE TABLE t (x int)", {}));
}

const TargetEntry& listed() { return target_entry("postgres"); }

bool is_listed(const std::string& name, const std::vector<std::string_view>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_CASE("postgres standbys: roles, legs, and rows that reach each standby") {
  PostgresServer server({}, "list-append", {}, {.count = 2});
  Target& target = server.target();
  CHECK(target.hosts() == std::vector<std::string>{"n1", "n2", "n3"});
  CHECK(target.role("n1") == "primary");
  CHECK(target.role("n2") == "standby");
  const auto path = [&](const std::string& from) {
    return Path{.from = from, .to = "n1", .address = "127.0.0.1", .port = server.port()};
  };
  CHECK(target.legs() == std::vector<Leg>{{"client-db", {path("control")}},
                                          {"replication", {path("n2"), path("n3")}}});
  server.up();
  create_table(server);
  REQUIRE_FALSE(insert(*server.connection()));
  for (const char* host : {"n2", "n3"}) {
    CHECK(comes_to_count(server, host, "1"));
    const auto into = server.directory() / "downloaded" / host;
    REQUIRE(target.download_logs(server.host(host), into));
    std::ifstream log(into / "postgres.log");
    const std::string text(std::istreambuf_iterator<char>(log), {});
    CHECK_THAT(text, Catch::Contains("started streaming WAL from primary"));
    CHECK(target.version(server.host(host)));
    const auto clock =
        run_checked(server.host(host), target.control(server.host(host)).clock_reading);
    REQUIRE(clock);
    CHECK(std::abs(std::stod(clock->standard_output)) < 1);
  }
  const ServerControl primary = target.control(server.host("n1"));
  CHECK(run_checked(server.host("n1"), primary.commit));
  CHECK_FALSE(run_checked(server.host("n2"), target.control(server.host("n2")).commit));
  const auto processes = run_checked(server.host("n1"), primary.processes);
  REQUIRE(processes);
  CHECK(std::count(processes->standard_output.begin(), processes->standard_output.end(), '\n') > 3);
  for (const std::string& host : target.hosts())
    CHECK(is_listed(target.role(host), listed().roles));
  for (const Leg& leg : target.legs()) CHECK(is_listed(leg.name, listed().legs));
}

TEST_CASE("postgres standbys: without any there is one server \"db\" and one leg") {
  PostgresServer server;
  CHECK(server.target().role("n1") == "db");
  CHECK(is_listed("db", listed().roles));
  CHECK(server.target().hosts() == std::vector<std::string>{"n1"});
  CHECK(server.target().legs().size() == 1);
}

TEST_CASE("postgres standbys: one that was killed catches up, and is not copied again") {
  PostgresServer server({}, "list-append", {}, {.count = 1});
  server.up();
  create_table(server);
  Host& standby = server.host("n2");
  const ServerControl control = server.target().control(standby);
  const auto mark = standby.spec().directory / "postgres/data/mark";
  std::ofstream(mark) << "kept";
  for (int twice = 0; twice < 2; ++twice) server.control(standby, control.kill);
  CHECK(server.state(standby) == "absent\n");
  REQUIRE_FALSE(insert(*server.connection()));
  SECTION("by the command of faults") {
    for (int twice = 0; twice < 2; ++twice) server.control(standby, control.start);
  }
  SECTION("by the target") { REQUIRE(server.target().start(standby, {})); }
  REQUIRE(server.target().await_ready(standby, 30s, {}));
  CHECK(comes_to_count(server, "n2", "1"));
  CHECK(std::filesystem::exists(mark));
}

TEST_CASE("postgres standbys: with a frozen synchronous one a commit hangs, and ends as info") {
  PostgresServer server(ServerSettings{{"synchronous", "true"}, {"operation-timeout", "1s"}},
                        "list-append", {}, {.count = 1});
  server.up();
  create_table(server);
  Host& standby = server.host("n2");
  auto connection = server.connection();
  REQUIRE_FALSE(insert(*connection));
  server.control(standby, server.target().control(standby).pause);
  CHECK(server.state(standby) == "stopped\n");
  const auto outcome = insert(*connection);
  REQUIRE(outcome);
  CHECK(std::holds_alternative<Info>(*outcome));
  CHECK(count_on(server, "n1") == "1");  // the waiting one is visible to nobody
  server.control(standby, server.target().control(standby).resume);
  REQUIRE(server.target().await_ready(standby, 30s, {}));
  CHECK(comes_to_count(server, "n1", "2"));  // an info that did happen
  CHECK_FALSE(insert(*server.connection()));
  CHECK(comes_to_count(server, "n2", "3"));
}

TEST_CASE("postgres standbys: without a primary one is not ready, and says so in time") {
  PostgresServer server({}, "list-append", {}, {.count = 1});
  server.up();
  server.control(server.server().kill);
  std::string message;
  // The standby may take a moment to see that its connection is lost.
  for (int i = 0; i < 100 && message.empty(); ++i) {
    const auto ready = server.target().await_ready(server.host("n2"), 300ms, {});
    if (!ready) message = ready.error().message;
  }
  CHECK_THAT(message,
             Catch::StartsWith("n2 was not ready after 300ms: the standby receives nothing "
                               "from the primary: no connection"));
  server.control(server.server().start);
  CHECK(server.target().await_ready(server.host("n2"), 30s, {}));
}

TEST_CASE("postgres standbys: both legs lead where they are rerouted to") {
  const bool replication = GENERATE(true, false);
  PostgresServer server({}, "list-append", {},
                        {.count = 2, .step_timeout = replication ? 1000ms : 60'000ms});
  Target& target = server.target();
  const int nobody = free_port();
  const auto legs = target.legs();
  if (replication) {  // of one standby alone
    REQUIRE(target.reroute("replication", legs[1].paths[0], "127.0.0.1", nobody));
    CHECK(target.legs() == legs);
    REQUIRE(server.on_each([&](Host& host) { return target.install(host, {}); }));
    REQUIRE(target.start(server.host(), {}));
    REQUIRE(target.await_ready(server.host(), 30s, {}));
    const auto started = target.start(server.host("n2"), {});
    REQUIRE_FALSE(started);
    CHECK(started.error().kind == ErrorKind::surroundings);
    CHECK_THAT(started.error().message,
               Catch::StartsWith(fmt::format("n2: the primary on n1 did not accept the standby's "
                                             "connections at 127.0.0.1 port {} within 1s: ",
                                             nobody)));
    REQUIRE(target.start(server.host("n3"), {}));
    CHECK(target.await_ready(server.host("n3"), 30s, {}));
  } else {
    server.up();
    REQUIRE(target.reroute("client-db", legs[0].paths[0], "127.0.0.1", nobody));
    const auto client = target.connect("list-append", ProcessId{0}, {});
    REQUIRE_FALSE(client);
    CHECK_THAT(client.error().message, Catch::Contains(std::to_string(nobody)));
    CHECK(target.await_ready(server.host("n2"), 30s, {}));
  }
}

TEST_CASE("postgres standbys: programs that are missing on a standby's host are named") {
  PostgresServer server(ServerSettings{{"version", "9999"}}, "list-append", {}, {.count = 1});
  const auto installed = server.target().install(server.host("n2"), {});
  REQUIRE_FALSE(installed);
  CHECK_THAT(installed.error().message, Catch::StartsWith("n2: there is no PostgreSQL 9999 in"));
}

}  // namespace
}  // namespace ordeal
