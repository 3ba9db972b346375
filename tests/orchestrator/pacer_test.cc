#include "orchestrator/pacer.h"

#include <catch2/catch.hpp>
#include <thread>

using namespace ordeal;
using Clock = Pacer::Clock;

TEST_CASE("no worker gets further ahead than the lead while the others move") {
  Pacer pacer(2, 8, 0);
  std::atomic<std::uint64_t> slow{0};
  std::atomic<std::uint64_t> fast{0};
  std::atomic<std::uint64_t> widest{0};
  std::stop_source stop;
  std::jthread runner([&] {
    while (!stop.stop_requested()) {
      pacer.wait(0, stop.get_token());
      const std::uint64_t ahead = ++fast - std::min(fast.load(), slow.load());
      widest = std::max(widest.load(), ahead);
    }
  });
  for (int i = 0; i < 200; ++i) {
    pacer.wait(1, stop.get_token());
    ++slow;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  stop.request_stop();
  runner.join();
  CHECK(fast >= 150);  // it was not starved
  // One more than the lead, and what a pause of this thread longer than the patience lets through.
  CHECK(widest <= 8 + 2 + 5);
}

TEST_CASE("a stuck worker only slows the others down") {
  Pacer pacer(2, 1, 0);
  const auto start = Clock::now();
  for (int i = 0; i < 5; ++i) pacer.wait(0, {});
  CHECK(Clock::now() - start >= Pacer::kPatience * 2);
}

TEST_CASE("a worker that left holds up nobody") {
  Pacer pacer(2, 1, 0);
  pacer.leave(1);
  const auto start = Clock::now();
  for (int i = 0; i < 1000; ++i) pacer.wait(0, {});
  CHECK(Clock::now() - start < Pacer::kPatience * 10);
}

TEST_CASE("a rate spreads operations in time") {
  Pacer pacer(1, 100, 100);  // one each 10 ms
  const auto start = Clock::now();
  for (int i = 0; i < 21; ++i) pacer.wait(0, {});
  CHECK(Clock::now() - start >= std::chrono::milliseconds(190));
}

TEST_CASE("a stop ends every wait") {
  Pacer pacer(2, 1, 0.001);
  std::stop_source stop;
  stop.request_stop();
  const auto start = Clock::now();
  for (int i = 0; i < 100; ++i) pacer.wait(0, stop.get_token());
  CHECK(Clock::now() - start < std::chrono::seconds(5));
}
