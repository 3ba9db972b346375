// Faults of the proxy as plans: what they do to connections, and what they say that they saw.
#include "nemesis/leg_toxics.h"

#include <stdlib.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>
#include <vector>

#include "nemesis/engine.h"
#include "nemesis/plan.h"
#include "tests/nemesis/proxy/sockets.h"

namespace ordeal {
namespace {

using proxy::Milliseconds;
using namespace std::chrono_literals;

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + 3s; }

Fault latency_fault(const std::string& latency, const std::string& direction,
                    const std::string& toxicity = "1") {
  return {
      "latency",
      {},
      {"client-db"},
      {{"direction", direction}, {"latency", latency}, {"jitter", "5"}, {"toxicity", toxicity}}};
}

// A leg in front of a server that ends what its clients end, unless it is told to keep them.
struct Ground {
  proxy::World world;
  std::atomic<bool> keeps = false;
  std::jthread server{[this](std::stop_token stop) { serve(stop); }};

  void serve(const std::stop_token& stop) {
    std::vector<proxy::TcpSocket> kept;
    while (true) {
      proxy::TcpSocket client = world.upstream.accept();
      if (stop.stop_requested()) return;
      if (keeps)
        kept.push_back(std::move(client));
      else
        (void)client.receive_all();
    }
  }
  ~Ground() {
    server.request_stop();
    (void)proxy::TcpSocket::connect(world.upstream.port());
  }

  Battlefield field() const {
    return {.control_address = "127.0.0.1",
            .hosts = {},
            .server = [](const Host&) { return ServerControl{}; },
            .run_id = "r1",
            .terrain =
                {.servers = {},
                 .legs = {{"client-db",
                           {{.from = "control", .to = "n1", .address = "", .listener = "leg"}}}}},
            .proxy = world.proxy.get()};
  }
  FaultPlan latency(const std::string& latency, const std::string& direction,
                    const std::string& toxicity = "1") const {
    return plan_fault(latency_fault(latency, direction, toxicity), field()).value();
  }
};

TEST_CASE("the effect of latency is what a client waits for") {
  Ground ground;
  const std::string direction = GENERATE("upstream", "downstream");
  const FaultPlan plan = ground.latency("200", direction);
  const InProcess& step = plan.in_process.at(0);
  const auto round_trip = [&] {
    return ground.world.proxy->round_trip("leg", Milliseconds(3000)).value();
  };
  CHECK(round_trip() < Milliseconds(190));
  CHECK_FALSE(step.effect(soon()));
  REQUIRE(step.inject());
  const auto seen = step.effect(soon());
  REQUIRE(seen);
  CHECK(seen->find("leg: a connection and its end took ") != std::string::npos);
  CHECK(round_trip() >= Milliseconds(190));
  REQUIRE(step.undo());
  CHECK(round_trip() < Milliseconds(190));
  CHECK_FALSE(step.effect(soon()));
}

TEST_CASE("latency that clients do not wait for is none, whatever the proxy delayed") {
  Ground ground;
  const FaultPlan weak = ground.latency("100", "upstream");
  const FaultPlan strong = ground.latency("400", "upstream");
  REQUIRE(weak.in_process.at(0).inject());
  const auto seen = strong.in_process.at(0).effect(soon());
  REQUIRE_FALSE(seen);
  CHECK(seen.error().message.find("leg: a connection and its end took 1") == 0);
}

TEST_CASE("of a server that ends no connection, and of some connections, the proxy counts") {
  Ground ground;
  const bool keeps = GENERATE(true, false);
  ground.keeps = keeps;
  const FaultPlan plan = ground.latency("100", "upstream", keeps ? "1" : "0.999");
  const InProcess& step = plan.in_process.at(0);
  REQUIRE(step.inject());
  const auto nothing = step.effect(soon());
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message.find("nothing has met the toxic") != std::string::npos);
  proxy::TcpSocket client = proxy::TcpSocket::connect(ground.world.port);
  client.send("hello");
  std::this_thread::sleep_for(Milliseconds(500));
  const auto seen = step.effect(soon());
  REQUIRE(seen);
  CHECK(seen->find("leg upstream: delayed 5 bytes, by up to ") == 0);
}

TEST_CASE("latency of both directions is seen in both only where a client waits for both") {
  Ground ground;
  const FaultPlan plan = ground.latency("200", "both");
  REQUIRE(plan.in_process.size() == 2);
  REQUIRE(plan.in_process[0].inject());
  const auto half = plan.in_process[1].effect(soon());
  REQUIRE_FALSE(half);
  CHECK(half.error().message.find("leg downstream: nothing has met the toxic; leg: a") == 0);
  REQUIRE(plan.in_process[1].inject());
  CHECK(plan.in_process[0].effect(soon()));
  CHECK(plan.in_process[1].effect(soon()));
}

// An engine without hosts: the proxy's faults need none.
struct Engine {
  explicit Engine(const Ground& ground) {
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    journal = HealJournal::open(folder + "/heal.jsonl").value();
    engine = std::make_unique<FaultEngine>(
        cluster, ground.field(), *journal,
        [this](Phase phase, const FaultEvent& event, const std::string&) {
          if (phase != Phase::info) return;
          effect = event.effect;
          seen_direction = event.seen_direction;
        });
  }
  ~Engine() { std::filesystem::remove_all(folder); }

  std::string folder = "/tmp/ordeal-leg-toxics-XXXXXX";
  Cluster cluster{{}};
  std::unique_ptr<HealJournal> journal;
  std::unique_ptr<FaultEngine> engine;
  std::string effect;  // as recorded last
  std::string seen_direction;
};

TEST_CASE("latency of both directions before a dead server is undone by the time of its cap") {
  Ground ground;
  ground.keeps = true;
  Engine fixture(ground);
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(fixture.engine->inject(latency_fault("100", "both"), 1s, {}, 700ms));
  CHECK(std::chrono::steady_clock::now() - begin >= 650ms);
  CHECK(std::chrono::steady_clock::now() - begin < 2500ms);
  CHECK(fixture.engine->active().empty());
  CHECK(ground.world.proxy->leg("leg")->toxics.empty());
}

TEST_CASE("the record names the direction in which nothing was seen") {
  Ground ground;
  ground.keeps = true;
  Engine fixture(ground);
  proxy::TcpSocket client = proxy::TcpSocket::connect(ground.world.port);
  std::jthread sender([&] {
    std::this_thread::sleep_for(200ms);
    client.send("hello");
  });
  const auto id = fixture.engine->inject(latency_fault("100", "both"), 1s, {}, 1500ms);
  REQUIRE(id);
  CHECK(fixture.effect.find("leg upstream: delayed 5 bytes") == 0);
  CHECK(fixture.effect.find("; leg downstream: nothing has met the toxic") != std::string::npos);
  CHECK(fixture.seen_direction == "upstream");
  REQUIRE(fixture.engine->heal(*id));
  CHECK(fixture.effect.find("while it lasted: leg upstream: delayed 5 bytes") == 0);
  CHECK(fixture.effect.find("; leg downstream: nothing has met the toxic") != std::string::npos);
  CHECK(fixture.seen_direction == "upstream");
}

TEST_CASE("where both directions were seen, or there is but one, the record says so") {
  Ground ground;
  Engine fixture(ground);
  const auto both = fixture.engine->inject(latency_fault("100", "both"), 1s, {});
  REQUIRE(both);
  CHECK(fixture.seen_direction == "both");
  REQUIRE(fixture.engine->heal(*both));
  REQUIRE(fixture.engine->inject(latency_fault("100", "upstream"), 1s, {}));
  CHECK(fixture.seen_direction == "");
  REQUIRE(fixture.engine->heal_all());
}

}  // namespace
}  // namespace ordeal
