// Toxics that come, change and go while data flows: no byte is lost, and order is kept.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "base/random.h"
#include "tests/nemesis/proxy/sockets.h"

namespace ordeal::proxy {
namespace {

struct Kind {
  const char* type;
  Attributes attributes;
};

// Those that lose nothing.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"latency", {{"latency", 20}, {"jitter", 20}}},
      {"bandwidth", {{"rate", 20'000}}},
      {"bandwidth", {{"rate", 0}}},
      {"slicer", {{"average_size", 500}, {"size_variation", 400}, {"delay", 50}}},
      {"slow_close", {{"delay", 100}}},
      {"limit_data", {{"bytes", 1e12}}},
      {"loss", {{"probability", 0}}},
  };
  return all;
}

// Adds, changes and removes toxics until `done`; none are left. How often that succeeded.
int meddle(Proxy& proxy, Random random, const std::atomic<bool>& done) {
  int changes = 0;
  while (!done) {
    const std::string name = fmt::format("t{}", random.below(4));
    const Kind& kind = random.pick(kinds());
    const auto direction = random.chance(0.5) ? Direction::upstream : Direction::downstream;
    const double what = random.unit();
    if (what < 0.5) {
      changes += proxy.add_toxic("leg", {name, kind.type, direction, 1, kind.attributes}) ? 1 : 0;
    } else if (what < 0.65) {
      changes += proxy.update_toxic("leg", name, {}, random.unit()) ? 1 : 0;
    } else {
      changes += proxy.remove_toxic("leg", name) ? 1 : 0;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(3000)));
  }
  REQUIRE(proxy.reset());
  return changes;
}

}  // namespace

TEST_CASE("toxics that come and go lose no byte") {
  World world({.seed = 3, .threads = 2});
  const std::string up = pattern(3'000'000), down = pattern(2'500'000);
  std::atomic<bool> done = false;
  auto first =
      std::async(std::launch::async, [&] { return meddle(*world.proxy, Random(1), done); });
  auto second =
      std::async(std::launch::async, [&] { return meddle(*world.proxy, Random(2), done); });
  std::vector<World::Pair> pairs;
  for (int i = 0; i < 4; ++i) pairs.push_back(world.connect());
  std::jthread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    done = true;
  });
  std::vector<std::jthread> threads;
  std::atomic<int> intact = 0;
  const auto send = [&](TcpSocket& socket, const std::string& bytes) {
    threads.emplace_back([&socket, &bytes] {
      // Slowly enough to still be sending while toxics change.
      for (std::size_t at = 0; at < bytes.size(); at += 10'000) {
        socket.send(std::string_view(bytes).substr(at, 10'000));
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
      }
      socket.finish();
    });
  };
  const auto receive = [&](TcpSocket& socket, const std::string& bytes) {
    threads.emplace_back([&socket, &bytes, &intact] {
      const Received got = socket.receive_all(Milliseconds(30'000));
      if (got.bytes == bytes && got.ending == Ending::finish) ++intact;
    });
  };
  for (auto& [client, server] : pairs) {
    send(client, up);
    send(server, down);
    receive(client, down);
    receive(server, up);
  }
  threads.clear();
  CHECK(intact == 8);
  CHECK(first.get() + second.get() > 100);
}

TEST_CASE("a toxic that is removed lets go of what it held, at once and in order") {
  World world;
  const Direction direction = GENERATE(Direction::upstream, Direction::downstream);
  auto [client, server] = world.connect();
  TcpSocket& source = direction == Direction::upstream ? client : server;
  TcpSocket& sink = direction == Direction::upstream ? server : client;
  const std::string first = world.add("latency", direction, {{"latency", 60'000}}).name;
  const std::string second = world.add("bandwidth", direction, {{"rate", 0}}).name;
  for (const char* part : {"one ", "two ", "three"}) source.send(part);
  source.finish();
  CHECK(sink.receive(1, Milliseconds(100)).ending == Ending::timeout);
  REQUIRE(world.proxy->remove_toxic("leg", first));
  CHECK(sink.receive(1, Milliseconds(100)).ending == Ending::timeout);
  REQUIRE(world.proxy->remove_toxic("leg", second));
  const Received got = sink.receive_all();
  CHECK(got.bytes == "one two three");
  CHECK(got.ending == Ending::finish);
  CHECK(got.after < Milliseconds(3000));
}

TEST_CASE("an update takes effect on what is waiting") {
  World world;
  auto [client, server] = world.connect();
  const std::string name =
      world.add("latency", Direction::upstream, {{"latency", 60'000}, {"jitter", 7}}).name;
  client.send("hello");
  CHECK(server.receive(1, Milliseconds(100)).ending == Ending::timeout);
  const auto updated = world.proxy->update_toxic("leg", name, {{"latency", 50}});
  REQUIRE(updated);
  CHECK(updated->attributes == Attributes{{"latency", 50}, {"jitter", 7}});
  CHECK(server.receive(5).bytes == "hello");
}

TEST_CASE("a source is not read faster than a slow toxic lets through") {
  World world;
  auto [client, server] = world.connect();
  world.add("bandwidth", Direction::upstream, {{"rate", 0}});
  const std::string much = pattern(50'000'000);
  CHECK_THROWS_WITH(client.send(much, Milliseconds(500)), Catch::Contains("timeout"));
  CHECK(world.counters().upstream.received_bytes < 1'000'000);
}

TEST_CASE("what toxics draw depends on the seed alone") {
  const auto affected = [](std::uint64_t seed) {
    World world({.seed = seed});
    world.add("limit_data", Direction::downstream, {{"bytes", 0}}, 0.5);
    std::string pattern_of_seed;
    for (int i = 0; i < 24; ++i) {
      auto [client, server] = world.connect();
      server.send("x");
      pattern_of_seed += client.receive(1).bytes.empty() ? '1' : '0';
    }
    return pattern_of_seed;
  };
  CHECK(affected(1) == affected(1));
  CHECK(affected(1) != affected(2));
}

}  // namespace ordeal::proxy
