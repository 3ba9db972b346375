// What each toxic does to real connections, in its direction and not in the other one. Machines
// under load are late, never early: lower bounds are tight, upper bounds generous.
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/nemesis/proxy/sockets.h"

namespace ordeal::proxy {
namespace {

constexpr Milliseconds kSoon(150);   // what is not delayed, on a busy machine
constexpr Milliseconds kLate(3000);  // what is delayed, on a busy machine

// A connection and the toxic's direction: `source` sends, `sink` receives through the toxic.
struct Oneway {
  World world;
  Direction direction = GENERATE(Direction::upstream, Direction::downstream);
  World::Pair pair = world.connect();
  TcpSocket& source = direction == Direction::upstream ? pair.client : pair.server;
  TcpSocket& sink = direction == Direction::upstream ? pair.server : pair.client;

  void add(const char* type, Attributes attributes = {}) {
    world.add(type, direction, std::move(attributes));
  }
  // The other direction is as it was.
  void check_back() {
    sink.send("back");
    const Received got = source.receive(4);
    CHECK(got.bytes == "back");
    CHECK(got.after < kSoon);
  }
};

}  // namespace

TEST_CASE_METHOD(Oneway, "latency delays data and the end") {
  add("latency", {{"latency", 200}, {"jitter", 20}});
  source.send("hello");
  const Received got = sink.receive(5);
  CHECK(got.bytes == "hello");
  CHECK(got.after >= Milliseconds(175));
  CHECK(got.after < kLate);
  check_back();
  source.finish();
  CHECK(sink.receive_all().after >= Milliseconds(175));
}

TEST_CASE_METHOD(Oneway, "latency does not limit the rate") {
  add("latency", {{"latency", 100}});
  const std::string bytes = pattern(4'000'000);
  std::jthread sender([&] { source.send(bytes); });
  const Received got = sink.receive(bytes.size());
  CHECK(got.bytes == bytes);
  CHECK(got.after < kLate);
}

TEST_CASE_METHOD(Oneway, "bandwidth limits the rate") {
  add("bandwidth", {{"rate", 500}});
  const std::string bytes = pattern(250'000);
  std::jthread sender([&] { source.send(bytes); });
  const Received got = sink.receive(bytes.size());
  CHECK(got.bytes == bytes);
  CHECK(got.after >= Milliseconds(420));  // 500 ms, less what may be made up for
  CHECK(got.after < kLate);
  check_back();
}

TEST_CASE_METHOD(Oneway, "bandwidth of nothing holds data until it is raised") {
  add("bandwidth", {{"rate", 0}});
  source.send("hello");
  CHECK(sink.receive(5, kSoon).ending == Ending::timeout);
  check_back();
  const std::string name = world.proxy->leg("leg")->toxics.front().name;
  REQUIRE(world.proxy->update_toxic("leg", name, {{"rate", 1000}}));
  CHECK(sink.receive(5).bytes == "hello");
}

TEST_CASE_METHOD(Oneway, "slow_close delays the end only") {
  add("slow_close", {{"delay", 300}});
  source.send("hello");
  CHECK(sink.receive(5).after < kSoon);
  check_back();
  source.finish();
  const Received end = sink.receive_all();
  CHECK(end.ending == Ending::finish);
  CHECK(end.after >= Milliseconds(290));
  CHECK(end.after < kLate);
}

TEST_CASE_METHOD(Oneway, "timeout swallows data, then closes") {
  add("timeout", {{"timeout", 400}});
  source.send("hello");
  check_back();
  const Received got = sink.receive_all();
  CHECK(got.bytes.empty());
  CHECK(got.ending == Ending::finish);
  CHECK(got.after < kLate);
  CHECK(source.receive_all().ending != Ending::timeout);
}

TEST_CASE_METHOD(Oneway,
                 "timeout 0 swallows until it is removed, and then closes what has a hole") {
  add("timeout", {{"timeout", 0}});
  const bool swallowed = GENERATE(true, false);
  if (swallowed) source.send("hello");
  CHECK(sink.receive(1, kSoon).ending == Ending::timeout);
  check_back();
  REQUIRE(world.proxy->reset());
  if (swallowed) {
    CHECK(sink.receive_all().ending == Ending::finish);
  } else {
    source.send("hello");
    CHECK(sink.receive(5).bytes == "hello");
  }
}

TEST_CASE_METHOD(Oneway, "limit_data delivers so many bytes, then closes") {
  add("limit_data", {{"bytes", 100'000}});
  check_back();
  const std::string bytes = pattern(100'000);
  std::jthread sender([&] {
    try {
      source.send(bytes + "too much");
    } catch (const std::exception&) {
      // closed while it was sending
    }
  });
  const Received got = sink.receive_all();
  CHECK(got.bytes == bytes);
  CHECK(got.ending == Ending::finish);
}

TEST_CASE_METHOD(Oneway, "slicer cuts data into pieces with pauses") {
  add("slicer", {{"average_size", 100}, {"size_variation", 20}, {"delay", 20'000}});
  const std::string bytes = pattern(1000);
  source.send(bytes);
  const Received first = sink.receive(80);
  CHECK(first.after < kSoon);
  const Received rest = sink.receive(bytes.size() - 80);
  CHECK(first.bytes + rest.bytes == bytes);
  CHECK(rest.after >= Milliseconds(120));  // at least eight pauses, less scheduling
  CHECK(rest.after < kLate);
  check_back();
}

TEST_CASE_METHOD(Oneway, "reset_peer resets both sides some time after the first data") {
  add("reset_peer", {{"timeout", 200}});
  CHECK(sink.receive(1, kSoon).ending == Ending::timeout);  // idle connections live
  source.send("hello");
  check_back();
  const Received end = sink.receive_all();
  CHECK(end.bytes.empty());
  CHECK(end.ending == Ending::reset);
  CHECK(end.after < kLate);
  CHECK(source.receive_all().ending == Ending::reset);
}

TEST_CASE_METHOD(Oneway, "half_open leaves one side in the belief that the connection lives") {
  add("half_open");
  source.send("hello");
  check_back();
  const int how = GENERATE(0, 1, 2);
  if (how == 0) source.finish();
  if (how == 1) source.close();
  if (how == 2) source.reset();
  CHECK(sink.receive(1, kSoon).ending == Ending::timeout);
  for (int i = 0; i < 5; ++i) {
    sink.send("are you there?");
    CHECK(sink.receive(1, Milliseconds(20)).ending == Ending::timeout);
  }
  REQUIRE(world.proxy->reset());
  CHECK(sink.receive_all().ending == Ending::reset);
}

TEST_CASE_METHOD(Oneway, "loss drops whole segments") {
  add("loss", {{"probability", 0.5}, {"segment_size", 10}});
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += fmt::format("<{:08}>", i);
  source.send(bytes);
  source.finish();
  const Received got = sink.receive_all();
  CHECK(got.ending == Ending::finish);
  REQUIRE(got.bytes.size() % 10 == 0);
  for (std::size_t at = 0; at < got.bytes.size(); at += 10) {
    REQUIRE(bytes.find(got.bytes.substr(at, 10)) % 10 == 0);
  }
  CHECK(got.bytes.size() > 4000);  // 5000 expected, standard deviation 158
  CHECK(got.bytes.size() < 6000);
  check_back();
}

TEST_CASE("toxicity is the share of connections that are affected") {
  World world;
  world.add("limit_data", Direction::downstream, {{"bytes", 0}}, 0.5);
  int affected = 0;
  for (int i = 0; i < 60; ++i) {
    auto [client, server] = world.connect();
    server.send("x");
    if (client.receive(1).bytes.empty()) ++affected;
  }
  CHECK(affected > 12);
  CHECK(affected < 48);  // 4.6 standard deviations; and the seed is fixed
}

TEST_CASE("mistakes about toxics are named") {
  World world;
  const auto error = [&](Toxic toxic) {
    const auto added = world.proxy->add_toxic("leg", std::move(toxic));
    return added ? "no error" : added.error().message;
  };
  const auto with = [](const char* type, Attributes attributes, double toxicity = 1) {
    return Toxic{"", type, Direction::upstream, toxicity, std::move(attributes)};
  };
  CHECK(error(with("tachyon", {})) ==
        "invalid toxic type \"tachyon\"; known are latency, bandwidth, slow_close, timeout, "
        "reset_peer, slicer, limit_data, half_open, loss");
  CHECK(error(with("latency", {{"lateny", 1}})) ==
        "toxic latency: it has no attribute lateny; known are latency, jitter");
  CHECK_THAT(error(with("latency", {{"latency", -1}})),
             Catch::StartsWith("toxic latency: latency is -1; expected a whole number from 0"));
  CHECK_THAT(error(with("latency", {{"latency", 1.5}})), Catch::Contains("a whole number"));
  CHECK(error(with("loss", {{"probability", 1.5}})) ==
        "toxic loss: probability is 1.5; expected a number from 0 to 1 (of each segment to be "
        "dropped, 0 to 1)");
  CHECK(error(with("slicer", {{"average_size", 5}, {"size_variation", 5}})) ==
        "toxic slicer: size_variation is 5; expected less than average_size, 5");
  CHECK(error(with("latency", {}, 1.1)) ==
        "toxic latency: toxicity is 1.1; expected a number from 0 to 1");
  CHECK(world.proxy->leg("leg")->toxics.empty());
  CHECK(error(with("latency", {})) == "no error");
  CHECK(error(with("latency", {})) == "leg leg: it already has a toxic latency_upstream");
  CHECK_FALSE(world.proxy->update_toxic("leg", "x", {}));
  CHECK_FALSE(world.proxy->update_toxic("leg", "latency_upstream", {{"rate", 1}}));
  CHECK_FALSE(world.proxy->remove_toxic("leg", "x"));
}

}  // namespace ordeal::proxy
