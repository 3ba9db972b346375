// The lifecycle of a real server: created, started, broken, healed, stopped.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "targets/postgres/server_scripts.h"
#include "tests/targets/postgres_server.h"
#include "tests/targets/transactions.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

bool is_ready(PostgresServer& server, std::chrono::milliseconds timeout = 30s) {
  const auto ready = server.target().await_ready(server.host(), timeout, {});
  if (!ready) UNSCOPED_INFO(ready.error().message);
  return ready.has_value();
}

// Listens on a free port of this machine.
class Occupied {
 public:
  explicit Occupied(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    REQUIRE(::bind(descriptor_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(descriptor_, 1) == 0);
  }
  ~Occupied() { ::close(descriptor_); }

 private:
  int descriptor_;
};

TEST_CASE("postgres: start, kill, stop are idempotent, and committed rows survive a kill") {
  PostgresServer server;
  server.up();
  REQUIRE(server.target().start(server.host(), {}));
  REQUIRE(server.connection()->execute("CREATE TABLE t AS SELECT 7 AS x", {}));
  CHECK(server.processes() > 3);

  for (int round = 0; round < 2; ++round) {
    server.control(server.server().kill);
    CHECK(server.processes() == 0);
    server.control(server.server().kill);
    server.control(server.server().start);  // with a stale postmaster.pid
    server.control(server.server().start);
    REQUIRE(is_ready(server));
    CHECK(query(*server.connection(), "SELECT x FROM t") == "7");
  }
  REQUIRE(server.target().stop(server.host()));
  CHECK(server.processes() == 0);
  REQUIRE(server.target().stop(server.host()));
}

TEST_CASE("postgres: a lock file that names a living process does not keep it from starting") {
  PostgresServer server;
  server.up();
  server.control(server.server().kill);
  const auto lock = server.directory() / "postgres/data/postmaster.pid";
  std::string text = text_of(lock);
  text.replace(0, text.find('\n'), std::to_string(::getpid()));
  std::ofstream(lock) << text;
  server.control(server.server().start);
  CHECK(is_ready(server));
}

TEST_CASE("postgres: two starts at once make one server") {
  PostgresServer server;
  REQUIRE(server.target().install(server.host(), {}));
  {
    std::jthread one([&] { CHECK(server.target().start(server.host(), {})); });
    std::jthread two([&] { CHECK(server.target().start(server.host(), {})); });
  }
  CHECK(is_ready(server));
}

TEST_CASE("postgres: pause freezes all of it, resume thaws it, stop works on a frozen one") {
  PostgresServer server(ServerSettings{{"operation-timeout", "300ms"}});
  server.up();
  for (int twice = 0; twice < 2; ++twice) server.control(server.server().pause);
  CHECK_FALSE(is_ready(server, 600ms));
  for (int twice = 0; twice < 2; ++twice) server.control(server.server().resume);
  CHECK(is_ready(server));
  server.control(server.server().pause);
  REQUIRE(server.target().stop(server.host()));
  CHECK(server.processes() == 0);
  server.control(server.server().pause);  // of nothing
  server.control(server.server().resume);
}

TEST_CASE("postgres: the clock of the server moves alone, and its time-outs keep working") {
  PostgresServer server;
  server.up();
  auto connection = server.connection();
  const auto skew = [&] {
    const auto there =
        std::stod(query(*connection, "SELECT extract(epoch FROM clock_timestamp())"));
    const std::chrono::duration<double> here = std::chrono::system_clock::now().time_since_epoch();
    return there - here.count();
  };
  const auto set = [&](const std::string& offset) {
    Command command = server.server().clock_offset;
    command.arguments.push_back(offset);
    server.control(command);
  };
  const auto becomes = [&](double offset) {
    for (int i = 0; i < 100; ++i) {
      if (std::abs(skew() - offset) < 0.5) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  };
  CHECK(becomes(0));
  for (const double offset : {3600.0, -120.5, 0.0}) {
    set(fmt::format("{:+}", offset));
    CAPTURE(offset);
    CHECK(becomes(offset));
    std::this_thread::sleep_for(2100ms);  // until the postmaster has noticed as well
    CHECK(query(*connection, "SELECT pg_sleep(0.05)").empty());  // a latch with time-out
    // Under a clock that is ahead this fails without real_waits.cc.
    const auto start = std::chrono::steady_clock::now();
    auto fresh = server.connection();
    REQUIRE(fresh->execute("SET statement_timeout = 100", {}));
    CHECK_FALSE(fresh->execute("SELECT pg_sleep(4)", {}));
    CHECK(std::chrono::steady_clock::now() - start < 2s);
  }
  set("+50");
  server.control(server.server().kill);
  server.control(server.server().start);
  REQUIRE(is_ready(server));
  connection = server.connection();
  CHECK(becomes(50));  // a restart keeps the skew
}

TEST_CASE("postgres: what an earlier run left makes way, also where its server still runs") {
  PostgresServer server;
  server.up();
  REQUIRE(server.connection()->execute("CREATE TABLE t AS SELECT 7 AS x", {}));
  SECTION("running") {}
  SECTION("frozen") { server.control(server.server().pause); }
  SECTION("stopped") { REQUIRE(server.target().stop(server.host())); }
  server.up();
  CHECK(query(*server.connection(), "SELECT count(*) FROM pg_class WHERE relname = 't'") == "0");
}

TEST_CASE("postgres: the server takes the clients of the run, unless the campaign says otherwise") {
  const postgres::ServerPlace place{.binaries = "/b", .directory = "/d", .address = "127.0.0.1"};
  const auto conf = [&](std::size_t clients, const ServerSettings& settings) {
    return postgres::postgresql_conf(place, clients, settings);
  };
  CHECK_THAT(conf(150, {}), Catch::Contains("max_connections = '200'"));
  CHECK_THAT(conf(151, {}), Catch::Contains("max_connections = '201'"));
  const std::string chosen = conf(500, {{"max_connections", "20"}});
  CHECK(chosen.rfind("max_connections") == chosen.find("max_connections = '20'\n"));
}

TEST_CASE("postgres: settings, version, log") {
  PostgresServer server(ServerSettings{{"settings.work_mem", "7MB"},
                                       {"settings.search_path", "it's, public"},
                                       {"settings.fsync", "on"}});
  server.up();
  CHECK(query(*server.connection(), "SHOW work_mem") == "7MB");
  CHECK(query(*server.connection(), "SHOW fsync") == "on");
  const auto version = server.target().version(server.host());
  REQUIRE(version);
  CHECK_THAT(*version, Catch::StartsWith("postgres (PostgreSQL) 15."));
  const auto into = server.directory() / "downloaded" / "n1";
  REQUIRE(server.target().download_logs(server.host(), into));
  CHECK_THAT(text_of(into / "postgres.log"), Catch::Contains("ready to accept connections"));
}

TEST_CASE("postgres: what is wrong with the surroundings is said before anything starts") {
  SECTION("a version that is not there") {
    PostgresServer server(ServerSettings{{"version", "9999"}});
    const auto installed = server.target().install(server.host(), {});
    REQUIRE_FALSE(installed);
    CHECK(installed.error().kind == ErrorKind::surroundings);
    CHECK(installed.error().message ==
          "n1: there is no PostgreSQL 9999 in /usr/lib/postgresql/9999/bin; install the package "
          "postgresql-9999 on that host, or set the target's version");
  }
  SECTION("a port in use") {
    PostgresServer server;
    const Occupied occupied(server.port());
    const auto installed = server.target().install(server.host(), {});
    REQUIRE_FALSE(installed);
    CHECK(installed.error().kind == ErrorKind::surroundings);
    CHECK_THAT(installed.error().message,
               Catch::Contains(fmt::format("n1: port {} of 127.0.0.1 is in use", server.port())));
  }
  SECTION("a cluster that is there already") {
    PostgresServer server;
    REQUIRE(server.target().install(server.host(), {}));
    std::filesystem::remove(server.directory() / "postgres/made-by-ordeal");
    const auto again = server.target().install(server.host(), {});
    REQUIRE_FALSE(again);
    CHECK_THAT(again.error().message, Catch::Contains("holds a database already"));
    CHECK(std::filesystem::exists(server.directory() / "postgres/data/PG_VERSION"));
  }
  SECTION("settings that PostgreSQL refuses") {
    const auto refusal = [](ServerSettings settings) {
      PostgresServer server(std::move(settings));
      const auto installed = server.target().install(server.host(), {});
      REQUIRE_FALSE(installed);
      CHECK(installed.error().kind == ErrorKind::bad_input);
      return installed.error().message;
    };
    CHECK(refusal({{"settings.shared_buffers", "a lot"}}) ==
          "n1: PostgreSQL 15 refuses shared_buffers = 'a lot': invalid value for parameter "
          "\"shared_buffers\": \"a lot\"; correct or remove "
          "target.postgres.settings.shared_buffers in the campaign");
    CHECK(refusal({{"settings.synchronous_comit", "off"}}) ==
          "n1: PostgreSQL 15 refuses synchronous_comit = 'off': unrecognized configuration "
          "parameter \"synchronous_comit\"; correct or remove "
          "target.postgres.settings.synchronous_comit in the campaign");
    CHECK_THAT(refusal({{"settings.work_mem", "7 bushels"}}), Catch::Contains("HINT: Valid units"));
    const auto together = refusal(
        {{"settings.superuser_reserved_connections", "190"}, {"settings.max_connections", "20"}});
    CHECK_THAT(together, Catch::Contains("refuses the campaign's settings together: "));
    CHECK_THAT(together, Catch::Contains("target.postgres.settings.max_connections"));
  }
  SECTION("starting what was never created") {
    PostgresServer server;
    CHECK_FALSE(server.target().start(server.host(), {}));
  }
}

TEST_CASE("postgres: not ready in time is said with the last lines of the log") {
  PostgresServer server(ServerSettings{{"operation-timeout", "200ms"}});
  server.up();
  SECTION("frozen") {
    server.control(server.server().pause);
    const auto ready = server.target().await_ready(server.host(), 500ms, {});
    REQUIRE_FALSE(ready);
    CHECK_THAT(ready.error().message, Catch::StartsWith("n1 was not ready after 500ms:"));
    CHECK_THAT(ready.error().message, Catch::Contains("ready to accept connections"));
  }
  SECTION("dead") {
    server.control(server.server().kill);
    const auto ready = server.target().await_ready(server.host(), 60s, {});
    REQUIRE_FALSE(ready);
    CHECK_THAT(ready.error().message, Catch::Contains("PostgreSQL ended while it started"));
  }
  SECTION("stopped") {
    server.control(server.server().pause);
    std::stop_source source;
    source.request_stop();
    const auto ready = server.target().await_ready(server.host(), 60s, source.get_token());
    REQUIRE_FALSE(ready);
    CHECK(ready.error().kind == ErrorKind::stopped);
  }
}

TEST_CASE("postgres: settings that make no sense are refused as input") {
  const Cluster cluster = fake_cluster(2);
  const auto make = [&](const Options::Given& given) {
    return make_target("postgres", "list-append", given, cluster);
  };
  REQUIRE(make({}));
  CHECK_FALSE(make_target("postgres", "list-append", {}, Cluster()));
  REQUIRE(make({{"standbys", {"n2", "test"}}, {"synchronous", {"true", "test"}}}));
  CHECK_FALSE(make({{"standbys", {"n2", "test"}}, {"version", {"12", "test"}}}));
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"settings.port", "1"},      {"settings.work_mem", "1\nfsync = off"},
      {"settings.x = 1 #", "1"},   {"version", "../../x"},
      {"operation-timeout", "0s"}, {"host", "n7"},
      {"standbys", "n7"},          {"standbys", "n1"},
      {"standbys", "n2, n2"},      {"synchronous", "true"},
  };
  for (const auto& [name, value] : wrong) {
    const auto made = make({{name, {value, "test"}}});
    REQUIRE_FALSE(made);
    CHECK(made.error().kind == ErrorKind::bad_input);
  }
}

}  // namespace
}  // namespace ordeal
