#include "nemesis/grudge.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

namespace ordeal {
namespace {

HostNames hosts(std::size_t count) {
  HostNames names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("n{}", i));
  return names;
}

bool hears(const Grudge& grudge, const std::string& host, const std::string& other) {
  const auto drops = grudge.find(host);
  return drops == grudge.end() || !drops->second.contains(other);
}

std::set<std::string> heard(const Grudge& grudge, const std::string& host, const HostNames& all) {
  std::set<std::string> names;
  for (const std::string& other : all) {
    if (hears(grudge, host, other)) names.insert(other);
  }
  return names;
}

TEST_CASE("isolate cuts one host from all others, both ways") {
  const Grudge grudge = isolate("n2", hosts(3));
  CHECK(grudge == Grudge{{"n1", {"n2"}}, {"n2", {"n1", "n3"}}, {"n3", {"n2"}}});
}

TEST_CASE("halves puts the smaller half first") {
  const Grudge grudge = halves(hosts(5));
  CHECK(heard(grudge, "n1", hosts(5)) == std::set<std::string>{"n1", "n2"});
  CHECK(heard(grudge, "n5", hosts(5)) == std::set<std::string>{"n3", "n4", "n5"});
}

TEST_CASE("a bridge joins two halves that don't hear each other") {
  const Grudge grudge = bridge(hosts(5));
  CHECK(grudge == Grudge{{"n1", {"n4", "n5"}},
                         {"n2", {"n4", "n5"}},
                         {"n4", {"n1", "n2"}},
                         {"n5", {"n1", "n2"}}});
}

TEST_CASE("on a ring each host hears a majority, mutually, and no two hear the same") {
  for (std::size_t count = 1; count <= 9; ++count) {
    Random random(count);
    const HostNames all = hosts(count);
    const Grudge grudge = majorities_ring(all, random);
    std::set<std::set<std::string>> views;
    for (const std::string& host : all) {
      const auto view = heard(grudge, host, all);
      CHECK(view.contains(host));
      CHECK(view.size() >= count / 2 + 1);
      for (const std::string& other : view) CHECK(hears(grudge, other, host));
      views.insert(view);
    }
    CAPTURE(count);
    CHECK(views.size() == (count < 4 ? 1 : count));
  }
}

TEST_CASE("a ring of one host or none drops nothing") {
  Random random(1);
  CHECK(majorities_ring({}, random).empty());
  CHECK(isolate("n1", {"n1"}).at("n1").empty());
}

}  // namespace
}  // namespace ordeal
