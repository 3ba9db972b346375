// Stages by themselves, on a clock that the test moves.
#include <catch2/catch.hpp>

#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

using std::chrono::milliseconds;

struct Bench {
  TimePoint now{std::chrono::hours(1)};
  ChunkQueue in, out;
  std::unique_ptr<Stage> stage;

  explicit Bench(const char* type, Attributes attributes = {}) {
    const ToxicEntry* entry = find_toxic_type(type);
    REQUIRE(entry != nullptr);
    stage = entry->make(Random(1), now);
    update(std::move(attributes), type);
  }
  void update(Attributes attributes, const char* type) {
    stage->update(completed({"", type, {}, 1, std::move(attributes)}).value().attributes);
  }
  TimePoint step() { return stage->step(in, out, now); }
  // Takes what came out.
  std::string taken() {
    std::string bytes;
    while (!out.empty()) {
      bytes += out.front();
      out.drop(out.bytes());
    }
    return bytes;
  }
};

}  // namespace

TEST_CASE("a queue moves parts of chunks and keeps count") {
  const TimePoint now{};
  ChunkQueue from, to;
  from.push("hello", now);
  from.push("", now);
  from.push("world", now);
  from.end(End::finish, now);
  from.move(2, to, now);
  from.drop(1);
  CHECK(from.front() == "lo");
  CHECK(from.bytes() == 7);
  CHECK(to.bytes() == 2);
  from.move_all(to, now);
  CHECK(from.exhausted());
  CHECK(to.bytes() == 9);
  CHECK(to.ended() == End::finish);
  CHECK(to.front() == "he");
  to.end(End::reset, now);
  to.end(End::close, now);
  CHECK(to.ended() == End::reset);
  CHECK(to.room() == 0);
}

TEST_CASE("latency draws within the jitter, and nothing overtakes") {
  Bench bench("latency", {{"latency", 100}, {"jitter", 50}});
  Clock::duration least = milliseconds(1000), most{};
  for (int i = 0; i < 2000; ++i) {
    bench.in.push("x", bench.now);
    const Clock::duration delay = bench.step() - bench.now;
    least = std::min(least, delay);
    most = std::max(most, delay);
    bench.now += delay;
    bench.in.push("y", bench.now);
    CHECK(bench.step() > bench.now);
    CHECK(bench.taken() == "x");
    bench.now += milliseconds(150);
    bench.step();
    CHECK(bench.taken() == "y");
  }
  CHECK(least >= milliseconds(50));
  CHECK(least < milliseconds(51));
  CHECK(most <= milliseconds(150));
  CHECK(most > milliseconds(149));
}

TEST_CASE("bandwidth keeps the rate to the byte, however late it is asked") {
  Bench bench("bandwidth", {{"rate", 100}});
  const std::string second(100'000, 'x');
  const TimePoint begin = bench.now;
  bench.in.push(second, begin);
  std::size_t passed = 0;
  TimePoint wake = bench.step();
  for (int i = 0; wake != kNever; ++i) {
    passed += bench.taken().size();
    bench.now = wake + milliseconds(i % 7);
    wake = bench.step();
  }
  passed += bench.taken().size();
  CHECK(passed == second.size());
  CHECK(bench.now - begin > milliseconds(930));
  CHECK(bench.now - begin < milliseconds(1000));
}

TEST_CASE("a slicer's pieces are as large as demanded") {
  Bench bench("slicer", {{"average_size", 100}, {"size_variation", 10}, {"delay", 1000}});
  bench.in.push(std::string(10'000, 'x'), bench.now);
  std::size_t pieces = 0;
  while (!bench.in.empty()) {
    const TimePoint wake = bench.step();
    const std::size_t size = bench.taken().size();
    ++pieces;
    if (bench.in.empty()) break;
    CHECK(size >= 90);
    CHECK(size <= 110);
    CHECK(wake == bench.now + milliseconds(1));
    bench.now = wake;
  }
  CHECK(pieces >= 91);
  CHECK(pieces <= 112);
}

TEST_CASE("limit_data counts what passed, also when the limit changes") {
  Bench bench("limit_data", {{"bytes", 10}});
  bench.in.push("1234567", bench.now);
  bench.step();
  CHECK(bench.taken() == "1234567");
  CHECK(bench.out.ended() == End::none);
  bench.update({{"bytes", 8}}, "limit_data");
  bench.in.push("89", bench.now);
  bench.step();
  CHECK(bench.taken() == "8");
  CHECK(bench.out.ended() == End::close);
}

TEST_CASE("every toxic passes on the end, or closes, or is half_open; and holds nothing itself") {
  for (const ToxicType& type : toxic_types()) {
    INFO(type.name);
    CHECK_FALSE(type.summary.empty());
    Bench bench(std::string(type.name).c_str());
    bench.in.push("hello", bench.now);
    bench.step();
    const std::size_t seen = bench.in.bytes() + bench.out.bytes();
    CHECK((seen == 5 || (type.lossy && seen == 0) || bench.out.ended() != End::none));
    if (type.name == "bandwidth") bench.update({{"rate", 1}}, "bandwidth");
    bench.in.end(End::finish, bench.now);
    bench.now += std::chrono::hours(1);
    bench.step();
    CHECK((bench.out.ended() == End::none) == (type.name == "half_open"));
  }
}

TEST_CASE("only toxics that leave a hole end the stream when they are taken out") {
  for (const ToxicType& type : toxic_types()) {
    INFO(type.name);
    Bench bench(std::string(type.name).c_str());
    bench.step();
    CHECK(bench.stage->end_on_removal() == End::none);
    bench.in.push("hello", bench.now);
    bench.step();
    const bool ends = type.name == "timeout" || type.name == "half_open";
    CHECK((bench.stage->end_on_removal() != End::none) == ends);
  }
}

}  // namespace ordeal::proxy
