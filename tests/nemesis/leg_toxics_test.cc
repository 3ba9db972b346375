// Faults of the proxy as plans: what they do to connections, and what they say that they saw.
#include "nemesis/leg_toxics.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "nemesis/plan.h"
#include "tests/nemesis/proxy/sockets.h"

namespace ordeal {
namespace {

using proxy::Milliseconds;

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

  FaultPlan latency(const std::string& latency, const std::string& direction,
                    const std::string& toxicity = "1") const {
    const Battlefield field{
        .control_address = "127.0.0.1",
        .hosts = {},
        .server = [](const Host&) { return ServerControl{}; },
        .run_id = "r1",
        .terrain =
            {.servers = {},
             .legs = {{"client-db",
                       {{.from = "control", .to = "n1", .address = "", .listener = "leg"}}}}},
        .proxy = world.proxy.get()};
    return plan_fault({"latency",
                       {},
                       {"client-db"},
                       {{"direction", direction},
                        {"latency", latency},
                        {"jitter", "5"},
                        {"toxicity", toxicity}}},
                      field)
        .value();
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
  CHECK_FALSE(step.effect());
  REQUIRE(step.inject());
  const auto seen = step.effect();
  REQUIRE(seen);
  CHECK(seen->find("leg: a connection and its end took ") != std::string::npos);
  CHECK(round_trip() >= Milliseconds(190));
  REQUIRE(step.undo());
  CHECK(round_trip() < Milliseconds(190));
  CHECK_FALSE(step.effect());
}

TEST_CASE("latency that clients do not wait for is none, whatever the proxy delayed") {
  Ground ground;
  const FaultPlan weak = ground.latency("100", "upstream");
  const FaultPlan strong = ground.latency("400", "upstream");
  REQUIRE(weak.in_process.at(0).inject());
  const auto seen = strong.in_process.at(0).effect();
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
  const auto nothing = step.effect();
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().message.find("nothing has met the toxic") != std::string::npos);
  proxy::TcpSocket client = proxy::TcpSocket::connect(ground.world.port);
  client.send("hello");
  std::this_thread::sleep_for(Milliseconds(500));
  const auto seen = step.effect();
  REQUIRE(seen);
  CHECK(seen->find("leg upstream: delayed 5 bytes, by up to ") == 0);
}

}  // namespace
}  // namespace ordeal
