#include <catch2/catch.hpp>

#include "tests/checkers/single_objects.h"

namespace ordeal::test {
namespace {

TEST_CASE("unique-ids: different ids are valid") {
  const auto result = Events()
                          .get("generate", "3")
                          .get("generate", "-1")
                          .invoke(0, "generate")
                          .info(0, "generate", "3")
                          .check("unique-ids");
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields == Fields{{"attempted-count", "3"},
                                {"acknowledged-count", "2"},
                                {"duplicated-count", "0"},
                                {"duplicated", "{}"},
                                {"range", "[-1,3]"}});
}

TEST_CASE("unique-ids: an id that was generated twice") {
  const auto result = Events()
                          .get("generate", R"("a")")
                          .get("generate", R"("b")")
                          .get("generate", R"("a")")
                          .get("generate", R"("a")")
                          .check("unique-ids");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"duplicate-id"});
  CHECK(result.fields.at("duplicated") == R"({"\"a\"":3})");
  CHECK(result.fields.at("range") == R"(["a","b"])");
  CHECK(result.anomalies.at(0).operations == std::vector<std::uint64_t>{1, 5});
  CHECK(result.anomalies.at(0).explanation ==
        R"(operations 1 and 5 both generated "a", which was generated 3 times in all)");
}

TEST_CASE("unique-ids: lists the most frequent 48 in order of id") {
  Events events;
  for (int id = 0; id < 60; ++id) {
    for (int times = 0; times < (id == 5 ? 3 : 2); ++times)
      events.get("generate", std::to_string(id));
  }
  const auto result = events.check("unique-ids");
  CHECK(result.fields.at("duplicated-count") == "60");
  CHECK(result.fields.at("duplicated").starts_with(R"({"5":3,"13":2,"14":2)"));
  CHECK(result.anomaly_counts.at("duplicate-id") == 60);
  CHECK(result.anomalies.size() == 4);
}

TEST_CASE("unique-ids: nothing generated is unknown") {
  const auto result = Events().pair("generate", "1", Phase::info).check("unique-ids");
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason == "no id was ever generated");
  CHECK(result.fields.at("range") == "[null,null]");
}

}  // namespace
}  // namespace ordeal::test
