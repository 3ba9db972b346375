#include <catch2/catch.hpp>

#include "base/names.h"
#include "base/options.h"
#include "base/random.h"

using namespace ordeal;

TEST_CASE("the same seed gives the same numbers, everywhere") {
  Random random(7);
  REQUIRE(random.next() == Random(7).next());
  REQUIRE(Random(7).derive("worker 1").next() == Random(7).derive("worker 1").next());
  REQUIRE(Random(7).derive("worker 1").next() != Random(7).derive("worker 2").next());
  REQUIRE(Random(7).derive("worker 1").next() != Random(8).derive("worker 1").next());
}

TEST_CASE("derived generators don't depend on what was drawn before") {
  Random drawn(7);
  drawn.next();
  REQUIRE(drawn.derive("a").next() == Random(7).derive("a").next());
}

TEST_CASE("bounded draws cover their range and nothing else") {
  Random random(1);
  std::vector<int> seen(3);
  for (int i = 0; i < 300; ++i) ++seen[static_cast<std::size_t>(random.between(-1, 1) + 1)];
  for (const int count : seen) REQUIRE(count > 50);
}

TEST_CASE("a mistyped name finds its neighbour") {
  const std::vector<std::string_view> known = {"partition", "pause", "kill"};
  REQUIRE(nearest_name("partitoin", known) == "partition");
  REQUIRE(nearest_name("zzzzzz", known).empty());
  REQUIRE(unknown_name("fault", "paus", known) ==
          "unknown fault \"paus\"; did you mean \"pause\"?");
}

TEST_CASE("durations") {
  REQUIRE(parse_duration("500ms")->count() == 500);
  REQUIRE(parse_duration("1.5s")->count() == 1500);
  REQUIRE(parse_duration("2m")->count() == 120'000);
  REQUIRE(parse_duration("60")->count() == 60'000);
  for (const auto* bad : {"", "s", "-1s", "5 s", "1.2.3s", "1d", "9999999999999h"}) {
    REQUIRE_FALSE(parse_duration(bad));
  }
}

TEST_CASE("options are checked once, and errors say where") {
  static constexpr OptionSpec kSpecs[] = {
      {"workers", OptionType::integer, "4", "", 1, 100},
      {"settings.*", OptionType::text, "", ""},
      {"hosts", OptionType::list, "n1, n2", ""},
  };
  const auto options = Options::make("thing", kSpecs, {{"settings.fsync", {"off", "c.yaml:3:5"}}});
  REQUIRE(options);
  REQUIRE(options->integer("workers") == 4);
  REQUIRE(options->group("settings").at("fsync") == "off");
  REQUIRE(options->list("hosts") == std::vector<std::string>{"n1", "n2"});

  const auto unknown = Options::make("thing", kSpecs, {{"wokers", {"1", "c.yaml:2:3"}}});
  REQUIRE(unknown.error().message ==
          "c.yaml:2:3: thing: unknown setting \"wokers\"; did you mean \"workers\"?");
  const auto range = Options::make("thing", kSpecs, {{"workers", {"0", "c.yaml:2:3"}}});
  REQUIRE(range.error().message == "c.yaml:2:3: thing: workers is \"0\": expected 1 to 100");
}
