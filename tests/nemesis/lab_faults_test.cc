// All faults on the real thing: PostgreSQL on a host with a network of its own, broken and healed
// over SSH, also after the process that broke it was killed.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <csignal>
#include <thread>

#include "nemesis/engine.h"
#include "nemesis/needs.h"
#include "targets/postgres/connection.h"
#include "targets/target.h"
#include "tests/nemesis/fault_kinds.h"
#include "tests/orchestrator/lab_fixture.h"
#include "workloads/workload.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

Options defaults(std::string_view kind, std::span<const OptionSpec> specs) {
  return Options::make(kind, specs, {}).value();
}

void must(const Status& status) {
  if (!status) FAIL(status.error().message);
}

// PostgreSQL on host n1 of a lab. To be made and used within the lab's control namespace.
struct Server {
  explicit Server(const TestLab& test)
      : cluster(make_cluster(test.lab)), run_id(test.request.name) {
    auto made = entry.make({options, "list-append", workload_options, cluster});
    if (!made) FAIL(made.error().message);
    target = std::move(*made);
    must(target->install(host(), {}));
    must(target->start(host(), {}));
    must(target->await_ready(host(), 60s, {}));
    fill_a_table();
  }
  ~Server() { (void)target->stop(host()); }

  // For faults that damage data.
  void fill_a_table() {
    const auto connection = connect().value();
    const auto trouble = connection->transact({}, [](const auto& execute) {
      execute("CREATE TABLE filled AS SELECT generate_series(1, 10000) AS number");
      return std::nullopt;
    });
    REQUIRE_FALSE(trouble);
  }

  Host& host() { return *cluster.hosts().front(); }
  Battlefield battlefield() {
    return {.control_address = cluster.control_address,
            .hosts = {&host()},
            .server = [this](const Host& each) { return target->control(each); },
            .run_id = run_id,
            .terrain = terrain()};
  }
  Terrain terrain() const { return {.servers = {{"n1", "db"}}, .legs = target->legs()}; }
  Fault draw(const FaultEntry& fault) const {
    Random random(5);
    return fault.draw(defaults(fault.name, fault.options), terrain(), random);
  }

  Result<std::unique_ptr<postgres::Connection>> connect() {
    const sql::Endpoint endpoint{.host = "n1",
                                 .address = host().spec().address,
                                 .port = target->control(host()).port,
                                 .operation_timeout = 1000ms};
    return postgres::Connection::open(endpoint, "read-committed", "", {});
  }
  // Answers a query within a second, with the right clock.
  bool healthy() {
    const auto connection = connect();
    if (!connection) return false;
    double there = 0;
    const auto trouble = (*connection)->transact({}, [&](const auto& execute) {
      there = std::stod(execute("SELECT extract(epoch FROM clock_timestamp())")[0][0]);
      return std::nullopt;
    });
    const std::chrono::duration<double> here = std::chrono::system_clock::now().time_since_epoch();
    return !trouble && std::abs(there - here.count()) < 1.5;
  }
  bool becomes(bool wanted, std::chrono::milliseconds within) {
    const auto end = std::chrono::steady_clock::now() + within;
    while (std::chrono::steady_clock::now() < end) {
      if (healthy() == wanted) return true;
      std::this_thread::sleep_for(100ms);
    }
    return false;
  }
  bool becomes_healthy() { return becomes(true, 15s); }
  // A new clock is noticed within two seconds, the other faults at once.
  bool becomes_unhealthy() { return becomes(false, 4s); }
  std::string output(std::vector<std::string> arguments) {
    Command command;
    command.arguments = std::move(arguments);
    const auto done = run_checked(host(), command);
    return done ? done->standard_output : done.error().message;
  }
  std::string firewall() {
    return output({"sh", "-c", "iptables -w -S; tc qdisc show | sed 's/direct_packets_stat.*//'"});
  }
  // `[o]` keeps the search from finding itself.
  std::string watchdogs() {
    return output({"sh", "-c", "grep -lsa '[o]rdeal-watchdog:' /proc/[0-9]*/cmdline; true"});
  }
  bool watchdog_ends() {
    const auto end = std::chrono::steady_clock::now() + 25s;
    while (std::chrono::steady_clock::now() < end) {
      if (watchdogs().empty()) return true;
      std::this_thread::sleep_for(100ms);
    }
    return false;
  }

  const TargetEntry& entry = target_catalog().front();
  const Options options = defaults("target", entry.options);
  const Options workload_options = defaults("workload", workload_catalog().front().options);
  Cluster cluster;
  std::string run_id;
  std::unique_ptr<Target> target;
};

// Large enough for a cluster, and small enough to be filled.
constexpr std::int64_t kDisk_mib = 256;

void in_lab(const std::string& suffix, const std::function<void(Server&, const TestLab&)>& work,
            std::int64_t disk_mib = kDisk_mib) {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab(suffix), {"n1"}, false, disk_mib});
  in_control_namespace(test.lab, [&] {
    Server server(test);
    work(server, test);
  });
}

std::filesystem::path journal_of(const TestLab& test) {
  return std::filesystem::temp_directory_path() / (test.request.name + "-heal.jsonl");
}

// What the catalogue can do to one server of this lab; a restart is over before anybody looks.
std::vector<FaultEntry> lasting_faults(Server& server) {
  std::vector<FaultEntry> faults;
  for (const FaultEntry& entry : fault_catalog()) {
    const Fault fault = server.draw(entry);
    if ((fault.hosts.empty() && fault.legs.empty()) || !lasts(entry)) continue;
    const Status met = check_need(entry, server.host());
    if (!met) WARN("skipped: " << met.error().message);
    if (met) faults.push_back(entry);
  }
  return faults;
}

void no_record(Phase, const FaultEvent&, const std::string&) {}

TEST_CASE("on a PostgreSQL over SSH, every fault is injected, seen by a client, and healed") {
  in_lab("f", [](Server& server, const TestLab& test) {
    const std::string firewall = server.firewall();
    const auto journal = HealJournal::open(journal_of(test)).value();
    FaultEngine engine(server.cluster, server.battlefield(), *journal, no_record);
    const auto faults = lasting_faults(server);
    for (const FaultEntry& entry : faults) {
      CAPTURE(entry.name);
      const auto id = engine.inject(server.draw(entry), 10s, {});
      if (!id) FAIL(id.error().message);
      if (is_outage(entry)) CHECK(server.becomes_unhealthy());
      CHECK(server.watchdogs() != "");
      must(engine.heal(*id));
      CHECK(server.becomes_healthy());
      CHECK(server.watchdogs() == "");
      CHECK(server.firewall() == firewall);
    }
    std::filesystem::remove(journal_of(test));
  });
}

TEST_CASE("the file system of the machine is neither filled nor made read-only") {
  in_lab(
      "d",
      [](Server& server, const TestLab& test) {
        const auto journal = HealJournal::open(journal_of(test)).value();
        FaultEngine engine(server.cluster, server.battlefield(), *journal, no_record);
        const auto full =
            engine.inject({"disk-full", {"n1"}, {}, {{"leave", "0"}, {"max-size", "64"}}}, 10s, {});
        REQUIRE_FALSE(full);
        CHECK(full.error().message.find("more than max-size (64 MiB)") != std::string::npos);
        const auto readonly = engine.inject({"disk-readonly", {"n1"}}, 10s, {});
        REQUIRE_FALSE(readonly);
        CHECK(readonly.error().message.find("which holds more than the servers' files") !=
              std::string::npos);
        CHECK(server.healthy());
        CHECK(server.watchdogs() == "");
        std::filesystem::remove(journal_of(test));
      },
      0);
}

// A process of its own, since the hosts' sessions must not be shared with it.
void inject_and_die(const TestLab& test, Server& server, const Fault& fault,
                    std::chrono::milliseconds grace) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Cluster cluster = make_cluster(test.lab);
    const auto journal = HealJournal::open(journal_of(test));
    FaultEngine engine(cluster, server.battlefield(), **journal, no_record,
                       {.watchdog_grace = grace});
    if (!engine.inject(fault, 1s, {})) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

TEST_CASE("watchdogs outlive the SSH session that armed them, and heal PostgreSQL") {
  in_lab("w", [](Server& server, const TestLab& test) {
    const std::string firewall = server.firewall();
    const auto faults = lasting_faults(server);
    for (const FaultEntry& entry : faults) {
      CAPTURE(entry.name);
      inject_and_die(test, server, server.draw(entry), time_to_see(entry) + 3s);
      if (is_outage(entry)) CHECK(server.becomes_unhealthy());
      CHECK(server.watchdog_ends());
      CHECK(server.becomes_healthy());
      CHECK(server.firewall() == firewall);
    }
    const auto replayed = replay(journal_of(test), server.cluster).value();
    CHECK(replayed.size() == faults.size());
    for (const Replayed& each : replayed) must(each.outcome);
    CHECK(server.watchdogs() == "");
    CHECK(server.healthy());
    std::filesystem::remove(journal_of(test));
  });
}

}  // namespace
}  // namespace ordeal
