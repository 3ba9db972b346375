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
  REQUIRE(parse_duration("8760h")->count() == 31'536'000'000);
  REQUIRE(parse_duration("8761h").error().message == "expected at most a year (8760h)");
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

TEST_CASE("a setting may have a check of its own, and a least duration") {
  static constexpr OptionSpec kSpecs[] = {
      {.name = "even.*",
       .default_value = "",
       .summary = "",
       .check = [](std::string_view name, const std::string& text) -> Status {
         if (text.size() % 2 == 0) return {};
         return bad_input("expected {} to be even", name);
       }},
      {.name = "pause",
       .type = OptionType::duration,
       .default_value = "5s",
       .summary = "",
       .minimum = 1},
      {.name = "quiet", .type = OptionType::duration, .default_value = "5s", .summary = ""},
      {.name = "on", .type = OptionType::host, .default_value = "", .summary = ""},
  };
  const auto options = Options::make(
      "thing", kSpecs,
      {{"even.x", {"22", "c.yaml:3:5"}}, {"quiet", {"0s", "c.yaml:4:5"}}, {"on", {"n2", "--on"}}});
  REQUIRE(options);
  CHECK(options->where("even.x") == "c.yaml:3:5");
  CHECK(options->where("pause").empty());
  CHECK(options->text("on") == "n2");
  const auto odd = Options::make("thing", kSpecs, {{"even.x", {"1", "here"}}});
  REQUIRE_FALSE(odd);
  CHECK(odd.error().message == "here: thing: even.x is \"1\": expected even.x to be even");
  for (const auto* nothing : {"0", "0s", "0.1ms"}) {
    const auto none = Options::make("thing", kSpecs, {{"pause", {nothing, "here"}}});
    REQUIRE_FALSE(none);
    CHECK(none.error().message.ends_with("expected more than 0, e.g. 5s"));
  }
}
