// What became of operations that met an error, on real members: docs/outcomes-etcd.md.
#include <catch2/catch.hpp>
#include <future>
#include <set>
#include <thread>

#include "targets/etcd/outcomes.h"
#include "tests/targets/etcd_cluster.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

std::future<std::string> invoke_async(Client& client, std::vector<MicroOp> micro_ops) {
  return std::async(std::launch::async,
                    [&client, ops = std::move(micro_ops)] { return invoke(client, ops); });
}

void control(EtcdCluster& cluster, const std::string& host, Command ServerControl::*command) {
  Host& on = cluster.host(host);
  cluster.control(on, cluster.target().control(on).*command);
}

TEST_CASE("etcd outcomes: without an answer a write is info and a read is fail") {
  EtcdCluster cluster(1, {{"operation-timeout", "400ms"}});
  cluster.up();
  const auto writer = cluster.client();
  const auto reader = cluster.client();
  cluster.control(cluster.server().pause);
  CHECK_THAT(invoke(*writer, {write_op(1, 1)}), Catch::StartsWith("info time-out: "));
  CHECK_FALSE(writer->connected());
  CHECK_THAT(invoke(*reader, {read_op(1), write_op(1, 2)}), Catch::StartsWith("fail time-out: "));
  const auto refused = cluster.target().connect("register", ProcessId{0}, {});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message, Catch::Contains("could not connect to etcd at 127.0.0.1"));
}

TEST_CASE("etcd outcomes: a write that its client gave up may happen later") {
  EtcdCluster cluster(3, {{"operation-timeout", "500ms"}, {"election-timeout", "20s"}});
  cluster.up();
  const auto writer = cluster.client(0);
  for (const char* name : {"n2", "n3"}) control(cluster, name, &ServerControl::pause);
  CHECK_THAT(invoke(*writer, {write_op(1, 1)}), Catch::StartsWith("info time-out: "));
  for (const char* name : {"n2", "n3"}) control(cluster, name, &ServerControl::resume);
  CHECK(until([&] { return invoke(*cluster.client(1), {read_op(1)}) == "ok 1"; }));
}

TEST_CASE("etcd outcomes: a connection that is lost under a write leaves it open") {
  EtcdCluster cluster(1, {{"operation-timeout", "20s"}});
  cluster.up();
  const auto writer = cluster.client();
  const auto reader = cluster.client();
  const auto idle = cluster.client();
  cluster.control(cluster.server().pause);
  auto write = invoke_async(*writer, {write_op(1, 1)});
  auto read = invoke_async(*reader, {read_op(1)});
  std::this_thread::sleep_for(200ms);  // until both are on their way
  cluster.control(cluster.server().kill);
  CHECK_THAT(write.get(), Catch::StartsWith("info connection-lost: "));
  CHECK_THAT(read.get(), Catch::StartsWith("fail connection-lost: "));
  // This one had none under way, and nobody accepts another.
  CHECK_THAT(invoke(*idle, {write_op(1, 2)}), Catch::StartsWith("fail connection-refused: "));
}

TEST_CASE("etcd outcomes: a member without a quorum says so after its own time-out") {
  EtcdCluster cluster(3, {{"operation-timeout", "30s"},
                          {"heartbeat-interval", "50ms"},
                          {"election-timeout", "500ms"}});
  cluster.up();
  const auto writer = cluster.client(2);
  const auto reader = cluster.client(2);
  for (const char* name : {"n1", "n2"}) control(cluster, name, &ServerControl::kill);
  auto write = invoke_async(*writer, {write_op(1, 1)});
  auto read = invoke_async(*reader, {read_op(1)});
  // Which of them depends on whether n3 was the leader, and whether it knows that it is not.
  const std::string written = write.get();
  CHECK_THAT(written, Catch::StartsWith("info request-timed-out: etcdserver: request timed out") ||
                          Catch::StartsWith("info deadline-exceeded: ") ||
                          Catch::StartsWith("fail proposal-dropped: "));
  CHECK_THAT(read.get(), Catch::StartsWith("fail request-timed-out: ") ||
                             Catch::StartsWith("fail leader-changed: ") ||
                             Catch::StartsWith("fail no-leader: "));
  CHECK(writer->connected());
}

TEST_CASE("etcd outcomes: a frozen leader is replaced, and its followers say so") {
  EtcdCluster cluster(3, {{"operation-timeout", "30s"}});
  cluster.up();
  std::set<std::string> read_outcomes;
  for (const char* frozen : {"n1", "n2", "n3"}) {
    const std::int64_t other = frozen == std::string("n1") ? 1 : 0;
    const auto client = cluster.client(other);
    control(cluster, frozen, &ServerControl::pause);
    read_outcomes.insert(invoke(*client, {read_op(1)}));
    control(cluster, frozen, &ServerControl::resume);
    for (const char* name : {"n1", "n2", "n3"}) {
      REQUIRE(cluster.target().await_ready(cluster.host(name), 60s, {}));
    }
  }
  // One of the three was the leader, if no election came between.
  for (const std::string& outcome : read_outcomes) {
    CHECK((outcome == "ok nil" || outcome == "fail leader-changed: etcdserver: leader changed"));
  }
}

TEST_CASE("etcd outcomes: what the member refuses before it proposes it certainly did not happen") {
  EtcdCluster cluster(1, {{"settings.max-txn-ops", "2"}, {"settings.max-request-bytes", "300"}});
  cluster.up();
  const auto client = cluster.client();
  CHECK_THAT(invoke(*client, {write_op(1, 1), write_op(2, 1), write_op(3, 1)}),
             Catch::StartsWith("fail too-many-operations: "));
  CHECK(client->connected());
  EtcdCluster lists(1, {{"settings.max-request-bytes", "300"}}, "list-append");
  lists.up();
  const auto appender = lists.client();
  std::string outcome = "ok";
  for (std::int64_t element = 100'000; outcome == "ok" && element < 100'100; ++element) {
    outcome = invoke(*appender, {append_op(1, element)});
  }
  CHECK_THAT(outcome, Catch::StartsWith("fail request-too-large: "));
}

TEST_CASE("etcd outcomes: out of space is left open, since such a write may have been applied") {
  EtcdCluster cluster(1, {{"settings.quota-backend-bytes", "50000"}});
  cluster.up();
  const auto client = cluster.client();
  std::string outcome = "ok";
  std::int64_t value = 0;
  while (outcome == "ok" && value < 5000) outcome = invoke(*client, {write_op(1, ++value)});
  CHECK_THAT(outcome,
             Catch::StartsWith("info no-space: etcdserver: mvcc: database space exceeded"));
  const std::string read = invoke(*client, {read_op(1)});
  CHECK((read == fmt::format("ok {}", value) || read == fmt::format("ok {}", value - 1)));
}

TEST_CASE("etcd outcomes: each rule is the one for its message, and unknown errors leave it open") {
  for (const etcd::OutcomeRule& rule : etcd::outcome_rules()) {
    CHECK(etcd::outcome_rule(rule.message).name == rule.name);
    const auto outcome = etcd::outcome_of({std::string(rule.message), "x"}, etcd::Effect::write);
    CHECK(std::holds_alternative<Fail>(outcome) == rule.never_proposed);
  }
  CHECK(etcd::outcome_rule("etcdserver: request timed out, possibly due to connection lost").name ==
        "request-timed-out");
  CHECK(etcd::outcome_rule("transport is closing").name == "other");
}

}  // namespace
}  // namespace ordeal
