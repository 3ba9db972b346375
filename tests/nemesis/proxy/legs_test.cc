// Legs over real sockets: data, ends and resets pass as they are; disabling, changing, counting.
#include <catch2/catch.hpp>
#include <functional>
#include <thread>
#include <vector>

#include "tests/nemesis/proxy/sockets.h"

namespace ordeal::proxy {
namespace {

const std::string kMegabytes = pattern(20'000'000);

// Within a few seconds; open connections are forgotten a little after their ends are seen.
bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(Milliseconds(10));
  return condition();
}

std::string error_of(const Result<LegInfo>& result) {
  return result ? "no error" : result.error().message;
}

}  // namespace

TEST_CASE("data passes a leg both ways at once, and is counted") {
  World world;
  auto [client, server] = world.connect();
  std::jthread up([&client = client] { client.send(kMegabytes); });
  std::jthread down([&server = server] { server.send(kMegabytes); });
  std::string downstream;
  std::jthread read(
      [&client = client, &downstream] { downstream = client.receive(kMegabytes.size()).bytes; });
  CHECK(server.receive(kMegabytes.size()).bytes == kMegabytes);
  read.join();
  CHECK(downstream == kMegabytes);
  const LegCounters counters = world.counters();
  CHECK(counters.accepted == 1);
  CHECK(counters.open == 1);
  CHECK(counters.upstream.received_bytes == kMegabytes.size());
  CHECK(counters.upstream.delivered_bytes == kMegabytes.size());
  CHECK(counters.downstream.delivered_bytes == kMegabytes.size());
}

TEST_CASE("the end of one direction leaves the other one open") {
  World world;
  auto [client, server] = world.connect();
  client.send("question");
  client.finish();
  const Received question = server.receive_all();
  CHECK(question.bytes == "question");
  CHECK(question.ending == Ending::finish);
  server.send("answer");
  server.close();
  const Received answer = client.receive_all();
  CHECK(answer.bytes == "answer");
  CHECK(answer.ending == Ending::finish);
  CHECK(becomes_true([&] { return world.counters().open == 0; }));
}

TEST_CASE("a reset passes a leg, in both directions") {
  World world;
  const bool from_client = GENERATE(true, false);
  auto [client, server] = world.connect();
  client.send("hello");
  REQUIRE(server.receive(5).bytes == "hello");
  (from_client ? client : server).reset();
  CHECK((from_client ? server : client).receive_all().ending == Ending::reset);
  CHECK(becomes_true([&] { return world.counters().open == 0; }));
}

TEST_CASE("a server that writes to a client that is gone learns it") {
  World world;
  auto [client, server] = world.connect();
  client.close();
  CHECK(server.receive_all().ending == Ending::finish);
  server.send("into the void");
  CHECK(server.receive_all().ending == Ending::finish);  // the FIN was read before
  CHECK(becomes_true([&] { return world.counters().open == 0; }));
}

TEST_CASE("without an upstream a client is reset") {
  World world;
  std::uint16_t unused = TcpListener().port();
  const std::string nowhere = fmt::format("127.0.0.1:{}", unused);
  REQUIRE(world.proxy->update_leg("leg", {{}, nowhere, {}}));
  CHECK(TcpSocket::connect(world.port).receive_all().ending == Ending::reset);
  REQUIRE(world.proxy->update_leg("leg", {{}, "no-such-host.invalid:1", {}}));
  CHECK(TcpSocket::connect(world.port).receive_all().ending == Ending::reset);
}

TEST_CASE("an upstream may be named by its host name") {
  World world;
  const std::string named = fmt::format("localhost:{}", world.upstream.port());
  REQUIRE(world.proxy->update_leg("leg", {{}, named, {}}));
  auto [client, server] = world.connect();
  client.send("hello");
  CHECK(server.receive(5).bytes == "hello");
}

TEST_CASE("a leg that refuses is like a server that is down, until it is enabled") {
  World world;
  auto [client, server] = world.connect();
  REQUIRE(world.proxy->set_mode("leg", LegMode::refuse));
  CHECK(client.receive_all().ending == Ending::finish);
  CHECK(server.receive_all().ending == Ending::finish);
  CHECK(connection_refused(world.port));
  CHECK(world.counters().open == 0);
  REQUIRE(world.proxy->set_mode("leg", LegMode::enabled));
  auto [again, server_again] = world.connect();
  again.send("hello");
  CHECK(server_again.receive(5).bytes == "hello");
}

TEST_CASE("a leg that resets accepts connections and answers by RST, until it is enabled") {
  World world;
  auto [client, server] = world.connect();
  REQUIRE(world.proxy->set_mode("leg", LegMode::reset));
  CHECK(client.receive_all().ending == Ending::reset);
  CHECK(server.receive_all().ending == Ending::reset);
  CHECK(TcpSocket::connect(world.port).receive_all().ending == Ending::reset);
  CHECK(world.proxy->leg("leg")->spec.mode == LegMode::reset);
  REQUIRE(world.proxy->set_mode("leg", LegMode::enabled));
  auto [again, server_again] = world.connect();
  again.send("hello");
  CHECK(server_again.receive(5).bytes == "hello");
}

TEST_CASE("a leg can be moved, and its upstream changed") {
  World world;
  auto [client, server] = world.connect();
  TcpListener other;
  const auto moved = world.proxy->update_leg(
      "leg", {"127.0.0.1:0", fmt::format("127.0.0.1:{}", other.port()), {}});
  REQUIRE(moved);
  CHECK(client.receive_all().ending == Ending::finish);
  CHECK(connection_refused(world.port));
  TcpSocket again = TcpSocket::connect(port_of(moved->spec.listen));
  again.send("hello");
  CHECK(other.accept().receive(5).bytes == "hello");
}

TEST_CASE("a removed leg closes its connections and its port") {
  World world;
  auto [client, server] = world.connect();
  REQUIRE(world.proxy->remove_leg("leg"));
  CHECK(client.receive_all().ending == Ending::finish);
  CHECK(server.receive_all().ending == Ending::finish);
  CHECK(connection_refused(world.port));
  CHECK(world.proxy->legs().empty());
}

TEST_CASE("a proxy that goes takes its connections along") {
  World world;
  auto [client, server] = world.connect();
  world.add("timeout", Direction::upstream);
  client.send("swallowed");
  world.proxy.reset();
  CHECK(client.receive_all().ending != Ending::timeout);
  CHECK(server.receive_all().ending != Ending::timeout);
}

TEST_CASE("a thousand connections carry data through one leg") {
  World world;
  std::vector<World::Pair> pairs;
  for (int i = 0; i < 1000; ++i) pairs.push_back(world.connect());
  CHECK(world.counters().open == 1000);
  world.add("slicer", Direction::downstream, {{"average_size", 100}});
  const std::string text = pattern(1000);
  for (auto& [client, server] : pairs) client.send(text);
  for (auto& [client, server] : pairs) server.send(server.receive(text.size()).bytes);
  std::size_t right = 0;
  for (auto& [client, server] : pairs) right += client.receive(text.size()).bytes == text ? 1U : 0U;
  CHECK(right == 1000);
  pairs.clear();
  CHECK(becomes_true([&] { return world.counters().open == 0; }));
  CHECK(world.counters().accepted == 1000);
}

TEST_CASE("mistakes about legs are named") {
  World world;
  Proxy& proxy = *world.proxy;
  const std::string good = "127.0.0.1:1";
  CHECK(error_of(proxy.add_leg({"leg", "127.0.0.1:0", good})) == "there already is a leg leg");
  CHECK(error_of(proxy.add_leg({"", "127.0.0.1:0", good})) == "a leg needs a name");
  for (const char* bad : {"", "db1", "db1:", ":", "db1:70000", "db1:5x", "::1:80", "[]:80"}) {
    CHECK_THAT(
        error_of(proxy.add_leg({"x", "127.0.0.1:0", bad})),
        Catch::StartsWith(fmt::format("leg x: upstream is \"{}\"; expected host:port", bad)));
  }
  CHECK_THAT(
      error_of(proxy.add_leg({"x", "no-such-host.invalid:1", good})),
      Catch::StartsWith("leg x: the address to listen on, no-such-host.invalid:1, is unknown"));
  const auto taken = proxy.add_leg({"x", fmt::format("127.0.0.1:{}", world.port), good});
  CHECK_THAT(error_of(taken),
             Catch::StartsWith(fmt::format(
                 "leg x: can't listen on 127.0.0.1:{}: Address already in use", world.port)));
  CHECK(taken.error().kind == ErrorKind::surroundings);
  CHECK(error_of(proxy.leg("x")) == "there is no leg x");
  CHECK_FALSE(proxy.set_mode("x", LegMode::enabled));
  CHECK_FALSE(proxy.remove_leg("x"));
  CHECK(proxy.legs().size() == 1);
}

}  // namespace ordeal::proxy
