// The documentation names the faults that there are, and the parameters that they take.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include "nemesis/nemesis.h"
#include "nemesis/plan.h"
#include "nemesis/proxy/proxy.h"
#include "nemesis/schedule.h"
#include "remote/fake_host.h"

namespace ordeal {
namespace {

// The rows of the table in docs/faults.md by their fault: what it strikes, and its settings.
std::map<std::string, std::string> documented() {
  std::ifstream file("docs/faults.md");
  std::map<std::string, std::string> rows;
  const std::regex row(R"(\| `([a-z-]+)` \|(.*)\|)");
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, found, row)) rows[found[1]] = found[2];
  }
  return rows;
}

TEST_CASE("docs/faults.md has each fault, what it strikes, and its settings") {
  const auto rows = documented();
  CHECK(rows.size() == fault_catalog().size());
  for (const FaultEntry& entry : fault_catalog()) {
    CAPTURE(entry.name);
    const auto row = rows.find(std::string(entry.name));
    REQUIRE(row != rows.end());
    const bool legs = entry.strikes == Strikes::legs;
    CHECK(row->second.starts_with(legs ? " legs |" : " servers |"));
    for (const OptionSpec& option : entry.options) {
      CAPTURE(option.name);
      const bool shared = option.name == "hosts" || option.name == "role" ||
                          option.name == "legs" || option.name == "direction";
      CHECK(
          (shared || row->second.find("`" + std::string(option.name) + "`") != std::string::npos));
    }
  }
}

// ---- parameters of written steps

using Words = std::vector<std::string>;

// What stands between backticks.
Words quoted(const std::string& text) {
  Words words;
  const std::regex word("`([^`]+)`");
  for (std::sregex_iterator each(text.begin(), text.end(), word), end; each != end; ++each) {
    words.push_back((*each)[1]);
  }
  return words;
}

struct Parameter {
  std::string fault;
  std::string name;
  std::string values;
};

// The rows of the table in docs/schedules.md.
std::vector<Parameter> documented_parameters() {
  std::ifstream file("docs/schedules.md");
  std::vector<Parameter> all;
  const std::regex row(R"(\| (`.*`) \| (`.*`) \| .* \| (.*) \|)");
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_match(line, found, row)) continue;
    for (const std::string& fault : quoted(found[1])) {
      for (const std::string& name : quoted(found[2])) all.push_back({fault, name, found[3]});
    }
  }
  return all;
}

// Two hosts, a leg that can be filtered and shaped in both directions, and one through the proxy.
struct Ground {
  FakeHost n1{spec("n1")};
  FakeHost n2{spec("n2")};
  std::unique_ptr<proxy::Proxy> proxy = proxy::Proxy::start().value();
  Battlefield field{.control_address = "10.0.0.1",
                    .hosts = {&n1, &n2},
                    .server = [](const Host&) { return control(); },
                    .run_id = "r1",
                    .terrain = {.servers = {{"n1", "primary"}, {"n2", "standby"}},
                                .legs = {{"direct", {path("n1", "n2")}}, {"proxied", {proxied()}}}},
                    .proxy = proxy.get()};

  static HostSpec spec(const char* name) {
    HostSpec result;
    result.name = name;
    result.address = std::string("10.0.1.") + name[1];
    return result;
  }
  static ServerControl control() {
    ServerControl result;
    result.port = 5432;
    result.data_file = "/data/*";
    result.processes = command({"pidof", "database"});
    result.clock_offset = command({"clock"});
    return result;
  }
  static Path path(const char* from, const char* to) {
    return {.from = from, .to = to, .address = spec(to).address, .port = 5432};
  }
  static Path proxied() {
    Path result = path("control", "n1");
    result.listener = "proxied-1";
    result.listener_port = 7000;
    return result;
  }
  // What is wrong with a written step; "" where it can be planned.
  std::string refusal(const FaultEntry& entry, const std::string& parameters) const {
    const char* leg = entry.need == FaultNeed::proxy ? "proxied" : "direct";
    const std::string place = entry.strikes == Strikes::legs ? fmt::format(" legs={}", leg) : "";
    const auto step = parse_step({"at 1s", fmt::format("{}{} {}", entry.name, place, parameters)},
                                 {}, field.terrain, Random(1));
    if (!step) return step.error().message;
    const auto planned = plan_fault(step->fault, field);
    return planned ? "" : planned.error().message;
  }
};

const FaultEntry& entry_of(const std::string& name) {
  for (const FaultEntry& entry : fault_catalog()) {
    if (entry.name == name) return entry;
  }
  FAIL("there is no fault " << name);
  std::abort();
}

TEST_CASE("docs/schedules.md has each parameter that a fault draws, and no other") {
  const Ground ground;
  std::set<std::string> drawn;
  for (const FaultEntry& entry : fault_catalog()) {
    Random random(1);
    const Options options = Options::make(entry.name, entry.options, {}).value();
    const Fault fault = entry.draw(options, ground.field.terrain, random);
    for (const auto& [name, value] : fault.parameters) {
      drawn.insert(fmt::format("{} {}", entry.name, name));
    }
  }
  std::set<std::string> written;
  for (const Parameter& each : documented_parameters())
    written.insert(each.fault + " " + each.name);
  CHECK(written == drawn);
}

double number(std::string text) {
  std::erase(text, ',');
  return std::stod(text);
}

// The jitter of packets is bounded by their delay, and a shape is beside a grudge; what is not
// written is drawn.
template <class Value>
std::string step_with(const Parameter& each, const Value& value) {
  std::string before;
  if (each.name == "shape") before = "grudge=n1!n2 ";
  if (each.fault == "packet-delay") before = each.name == "jitter" ? "delay=60000 " : "jitter=0 ";
  return fmt::format("{}{}={}", before, each.name, value);
}

TEST_CASE("a parameter may have the values that docs/schedules.md says, and no others") {
  const Ground ground;
  const std::regex range(R"((-?[0-9.,e]+) to (-?[0-9.,e]*[0-9])(,.*)?)");
  for (const Parameter& each : documented_parameters()) {
    CAPTURE(each.fault, each.name, each.values);
    const FaultEntry& entry = entry_of(each.fault);
    std::smatch found;
    if (std::regex_match(each.values, found, range)) {
      const double least = number(found[1]);
      const double most = number(found[2]);
      CHECK(ground.refusal(entry, step_with(each, least)).empty());
      CHECK(ground.refusal(entry, step_with(each, most)).empty());
      const double beyond = std::max(most * 0.01, 0.0005);
      CHECK(ground.refusal(entry, step_with(each, least - beyond)).find("expected") !=
            std::string::npos);
      CHECK(ground.refusal(entry, step_with(each, most + beyond)).find("expected") !=
            std::string::npos);
    } else {
      const Words words = quoted(each.values);
      CHECK_FALSE(words.empty());
      for (const std::string& word : words) {
        CHECK(ground.refusal(entry, step_with(each, word)).empty());
      }
    }
    CHECK(ground.refusal(entry, step_with(each, "banana")).find("expected") != std::string::npos);
  }
}

}  // namespace
}  // namespace ordeal
