// Campaign files: what loads, and that each mistake is named with its line, column and remedy.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/orchestrator/campaign_text.h"
#include "tests/support/temporary_directory.h"

using namespace ordeal;

TEST_CASE("groups of an inventory stand for their hosts") {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "hosts.ini")
      << "[primary]\nn2 ansible_host=127.0.0.2\n[copies]\nn[3:4]\n[none]\n[copies:vars]\n"
         "ansible_host=127.0.0.3\n";
  const auto with = [&](const std::string& target, const std::string& more = "") {
    const std::string hosts =
        fmt::format("{{inventory: {}/hosts.ini{}}}", directory.path().string(), more);
    return replaced(replaced(kGood, "{lab: local, names: [n1]}", hosts), "{settings: {fsync: off}}",
                    target);
  };
  const auto campaign = load(with("{host: primary, standbys: [copies]}"));
  REQUIRE(campaign);
  CHECK(campaign->systems.front().target.options.text("host") == "n2");
  CHECK(campaign->systems.front().target.options.list("standbys") ==
        std::vector<std::string>{"n3", "n4"});
  CHECK(campaign->hosts.names == std::vector<std::string>{"n2", "n3", "n4"});
  CHECK_FALSE(campaign->hosts.provision);
  const Inventory& read = campaign->hosts.read;
  CHECK(unclaimed_groups(read, {"n2"}) == std::vector<std::string>{"copies", "none"});
  CHECK(unclaimed_groups(read, {"n2", "n4"}) == std::vector<std::string>{"none"});

  CHECK(error_of(with("{host: copies}")) ==
        "c.yaml:4:14: target postgres: host is \"copies\": group \"copies\" has 2 hosts (n3, n4), "
        "and only one is expected");
  CHECK(error_of(with("{host: none}")) ==
        "c.yaml:4:14: target postgres: host is \"none\": group \"none\" of the inventory has no "
        "hosts");
  CHECK(error_of(with("{host: primry}")) ==
        "c.yaml:4:14: target postgres: host is \"primry\": unknown host \"primry\"; did you mean "
        "\"primary\"?");
  CHECK(load(with("{host: primary}", ", provision: true"))->hosts.provision);
  CHECK(error_of(replaced(kGood, "names: [n1]", "names: [n1], provision: true")) ==
        "c.yaml:2:34: hosts: only hosts of an inventory are provisioned");
}

TEST_CASE("a campaign is read whole") {
  const auto campaign = load(kGood);
  REQUIRE(campaign);
  CHECK(campaign->name == "good");
  CHECK(campaign->hosts.lab == "local");
  CHECK(campaign->systems.front().target.entry->name == "postgres");
  CHECK(campaign->systems.front().target.options.group("settings").at("fsync") == "off");
  CHECK(campaign->workload.options.text("isolation") == "read-committed");
  CHECK(campaign->settings.integer("workers") == 3);
  REQUIRE(campaign->faults.size() == 2);
  CHECK(campaign->checks.front().options.text("model") == "snapshot-isolation");
}

TEST_CASE("the checker follows from the workload where none is given") {
  const auto campaign = load("target: {postgres: {}}\nworkload: {bank: {}}\n");
  REQUIRE(campaign);
  REQUIRE(campaign->checks.size() == 1);
  CHECK(campaign->checks.front().entry->name == "bank");
  CHECK(campaign->hosts.lab == "netns");
}

TEST_CASE("the command line changes a campaign") {
  CampaignChanges changes;
  changes.scenario = "calm";
  changes.assignments = {"workload.list-append.isolation=serializable",
                         "target.postgres.settings.work_mem=1MB"};
  changes.duration = "5s";
  const auto campaign = load(kGood, changes);
  REQUIRE(campaign);
  CHECK(campaign->faults.empty());
  CHECK(campaign->settings.integer("workers") == 1);
  CHECK(campaign->settings.duration("duration").count() == 5000);
  CHECK(campaign->workload.options.text("isolation") == "serializable");
  CHECK(campaign->systems.front().target.options.group("settings").size() == 2);
}

TEST_CASE("what was resolved loads again, and is the same") {
  CampaignChanges changes;
  changes.assignments = {"workers=7"};
  const auto first = load(kGood, changes);
  REQUIRE(first);
  const auto second = load(first->resolved);
  REQUIRE(second);
  CHECK(second->settings.integer("workers") == 7);
  CHECK(second->resolved == first->resolved);
}

TEST_CASE("mistakes are named with line, column and the nearest name") {
  CHECK(error_of(replaced(kGood, "workers: 3", "wrokers: 3")) ==
        "c.yaml:7:1: unknown setting \"wrokers\"; did you mean \"workers\"?");
  CHECK(error_of(replaced(kGood, "faults:\n", "fualts:\n")) ==
        "c.yaml:8:1: unknown section \"fualts\"; did you mean \"faults\"?");
  CHECK(error_of(replaced(kGood, "  pause:", "  paus:")) ==
        "c.yaml:10:3: unknown fault \"paus\"; did you mean \"pause\"?");
  CHECK(error_of(replaced(kGood, "{isolation: read-committed}", "{isolation: read-comitted}")) ==
        "c.yaml:6:17: workload list-append: isolation is \"read-comitted\": unknown value "
        "\"read-comitted\"; did you mean \"read-committed\"?");
  CHECK(error_of(replaced(kGood, "workers: 3", "workers: many")) ==
        "c.yaml:7:1: campaign: workers is \"many\": expected a whole number");
  CHECK(error_of(replaced(kGood, "lab: local", "lab: lokal")).find("did you mean \"local\"?") !=
        std::string::npos);
  CHECK(error_of(replaced(kGood, "  pause:", "  kill:")) == "c.yaml:10:3: \"kill\" is given twice");
  CHECK(
      error_of(replaced(kGood, "  postgres:", "  postgers:")).find("c.yaml:4:3: unknown target") ==
      0);
}

TEST_CASE("files that are no campaign") {
  CHECK(error_of("").find("expected a map") != std::string::npos);
  CHECK(error_of("- a\n- b\n").find("expected a map") != std::string::npos);
  CHECK(error_of("a: [1\n").find("not valid YAML") != std::string::npos);
  CHECK(error_of("name: x\n").find("expected exactly one target") != std::string::npos);
  CHECK(error_of("name: Bad Name\n").find("expected lower-case letters") != std::string::npos);
  const auto missing = load_campaign("/nonexistent.yaml", {}, {});
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("/nonexistent.yaml") == 0);
}

TEST_CASE("small files that are endless") {
  CHECK(error_of("a: &x [*x]\n").find("an alias (*name) may contain itself") != std::string::npos);
  CHECK(error_of("name: &x {a: *x}\n").find("may contain itself") != std::string::npos);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += fmt::format("a{0}: &a{0} [", i);
    for (int j = 0; j < 10; ++j) bomb += fmt::format("*a{}, ", i - 1);
    bomb += "]\n";
  }
  CHECK(error_of(bomb).find("nested too deeply") != std::string::npos);
}

TEST_CASE("hosts are named once, and values must make sense together") {
  CHECK(error_of(replaced(kGood, "[n1]", "[n1, n1]")) ==
        "c.yaml:2:21: hosts: expected names, each once");
  CHECK(error_of(replaced(kGood, "workers: 3", "rate: -5")).find("expected 0 to") !=
        std::string::npos);
  CHECK(error_of(replaced(kGood, "{isolation: read-committed}",
                          "{min-transaction-length: 5, max-transaction-length: 2}"))
            .find("c.yaml:6:3: workload list-append: ") == 0);
  CHECK(error_of(replaced(kGood, "workers: 3", "schedule: {duration-min: 20s}")) ==
        "c.yaml:7:11: schedule: duration-min (20s) is longer than duration-max (10s)");
}

TEST_CASE("a target's host is one of the campaign's") {
  CHECK(error_of(replaced(replaced(kGood, "[n1]", "[db1, db2]"), "{settings: {fsync: off}}",
                          "{host: bd2}")) ==
        "c.yaml:4:14: target postgres: host is \"bd2\": unknown host \"bd2\"; did you mean "
        "\"db2\"?");
  CHECK(load(
      replaced(replaced(kGood, "[n1]", "[db1, db2]"), "{settings: {fsync: off}}", "{host: db2}")));
  const TemporaryDirectory directory;
  const auto inventory = directory.path() / "hosts.ini";
  std::ofstream(inventory) << "alpha ansible_host=127.0.0.2\n";
  const auto on = [&](const std::string& host) {
    return replaced(replaced(kGood, "lab: local, names: [n1]", "inventory: " + inventory.string()),
                    "{settings: {fsync: off}}", "{host: " + host + "}");
  };
  CHECK(load(on("alpha")));
  CHECK(error_of(on("alhpa")).find("c.yaml:4:14: target postgres: host is \"alhpa\": ") == 0);
}

TEST_CASE("what a target would refuse is refused when the campaign is read") {
  const auto with = [](const std::string& setting) {
    return error_of(replaced(kGood, "{settings: {fsync: off}}", "{" + setting + "}"));
  };
  for (const std::string bad : {"../../x", "15; reboot", "15.3", ".", "new"}) {
    CHECK(with("version: \"" + bad + "\"") == "c.yaml:4:14: target postgres: version is \"" + bad +
                                                  "\": expected the number of a major version, "
                                                  "such as 15");
  }
  CHECK(with("settings: {port: 1}").find("c.yaml:4:25: target postgres: settings.port is ") == 0);
  CHECK(with("settings: {a-b: 1}").find("c.yaml:4:25: target postgres: settings.a-b is ") == 0);
}

TEST_CASE("a cap is given by the name of what it is for") {
  CHECK(error_of(replaced(kGood, "workers: 3", "schedule: {outage-max: 2s}")) ==
        "c.yaml:7:12: schedule: outage-max is given by name, e.g. `outage-max: {NAME: 2s}`");
}

TEST_CASE("a written schedule is a file of its own, with its own lines") {
  CampaignChanges changes;
  changes.schedule = "/nonexistent/steps.yaml";
  CHECK(error_of(kGood, changes) ==
        "/nonexistent/steps.yaml: cannot be read; expected a written schedule, such as a run's "
        "schedule.yaml (see docs/schedules.md)");
  const TemporaryDirectory directory;
  changes.schedule = directory.path() / "steps.yaml";
  std::ofstream(changes.schedule) << "- at 1s: kill n1\n";
  CHECK(error_of(kGood, changes) ==
        changes.schedule.string() + ":1:1: expected a map with `steps:`");
  std::ofstream(changes.schedule) << "steps: [at 1s: kill n1, \"at 2s: pause n1\"]\n";
  CHECK(
      error_of(kGood, changes) ==
      changes.schedule.string() +
          ":1:25: expected a step such as `at 12s for 4s: kill n1`, found the text \"at 2s: pause "
          "n1\"; quotes belong around the fault alone, as in `[at 12s: \"kill n1,n2\"]`");
  std::ofstream(changes.schedule) << "steps:\n- at 1s: kill n1\n- at 2s: pause n1\n";
  const auto campaign = load(kGood, changes);
  REQUIRE(campaign);
  REQUIRE(campaign->steps.size() == 2);
  CHECK(campaign->steps[0].where == changes.schedule.string() + ":2:3");
  CHECK(campaign->steps[1].where == changes.schedule.string() + ":3:3");
}

TEST_CASE("an assignment's value is YAML") {
  CampaignChanges changes;
  changes.assignments = {"hosts.names=[n1, n2]", "faults={}", "target.postgres={port: 5433}",
                         "target.postgres.host="};
  const auto campaign = load(kGood, changes);
  REQUIRE(campaign);
  CHECK(campaign->hosts.names == std::vector<std::string>{"n1", "n2"});
  CHECK(campaign->faults.empty());
  CHECK(campaign->systems.front().target.options.integer("port") == 5433);
  CHECK(campaign->systems.front().target.options.text("host").empty());
  REQUIRE(load(campaign->resolved));
  changes.assignments = {"hosts.names=[n1"};
  CHECK(error_of(kGood, changes).find("--set hosts.names=[n1: not valid YAML: ") == 0);
  changes.assignments = {"hosts=&x [*x]"};
  CHECK(error_of(kGood, changes).find("--set hosts=&x [*x]") == 0);
}

TEST_CASE("what an assignment spoils is blamed on it, not on the file") {
  const auto with = [](const std::string& assignment) {
    CampaignChanges changes;
    changes.assignments = {"rate=5", assignment, "lead=9"};
    return error_of(kGood, changes);
  };
  CHECK(with("workload.bank.x=1") ==
        "--set workload.bank.x=1: workload bank: unknown setting \"x\"; known: isolation, "
        "accounts, initial-balance, max-transfer, read-ratio, client, negative-balances");
  CHECK(with("workload.bank.accounts=5") ==
        "--set workload.bank.accounts=5: expected exactly one workload, not list-append, bank");
  CHECK(with("workload.list-append.isolation=none")
            .find("--set workload.list-append.isolation=none: workload list-append: isolation is "
                  "\"none\": ") == 0);
  CHECK(with("check.list-append.model=none")
            .find("--set check.list-append.model=none: check list-append: model is \"none\": ") ==
        0);
  CHECK(with("check.lits-append.model=serializable")
            .find("--set check.lits-append.model=serializable: unknown check ") == 0);
  CHECK(with("faults={pasue: {}}") ==
        "--set faults={pasue: {}}: unknown fault \"pasue\"; did you mean \"pause\"?");
  CHECK(with("workers=[1, 2]") == "--set workers=[1, 2]: workers: expected a single value");
  CHECK(with("workers=0") == "--set workers=0: campaign: workers is \"0\": expected 1 to 10000");
  CHECK(with("name=Bad").find("--set name=Bad: name \"Bad\": ") == 0);
  CHECK(with("hosts.names=[n1, n1]") ==
        "--set hosts.names=[n1, n1]: hosts: expected names, each once");
  CHECK(with("workload.list-append.min-transaction-length=9")
            .find("--set workload.list-append.min-transaction-length=9: workload list-append: ") ==
        0);
  CHECK(with("schedule.duration-min=20s")
            .find("--set schedule.duration-min=20s: schedule: duration-min (20s) is longer") == 0);
  CHECK(with("schedule=5") == "--set schedule=5: expected a map of settings");
  CHECK(with("target.postgres.host=n7").find("--set target.postgres.host=n7: target postgres: ") ==
        0);
}

TEST_CASE("what a scenario spoils is blamed on the scenario") {
  CampaignChanges changes;
  changes.scenario = "calm";
  CHECK(error_of(replaced(kGood, "    workers: 1", "    workers: 0"), changes)
            .find("c.yaml:16:5: campaign: workers is ") == 0);
  CHECK(error_of(replaced(kGood, "    faults: {}", "    schedule: {intervall: 1s}"), changes)
            .find("c.yaml:15:16: schedule: unknown setting ") == 0);
}

TEST_CASE("what the command line replaces is validated all the same") {
  CampaignChanges changes;
  changes.no_disruptions = true;
  CHECK(error_of(replaced(kGood, "  pause:", "  partition: {colour: red}"), changes)
            .find("c.yaml:10:15: fault partition: unknown setting \"colour\"") == 0);
  changes.duration = "5s";
  CHECK(error_of(replaced(kGood, "workers: 3", "duration: never"), changes)
            .find("c.yaml:7:1: campaign: duration is \"never\": expected a duration") == 0);
  CHECK(load(kGood, changes)->faults.empty());
}

TEST_CASE("a checker that cannot judge the workload is refused") {
  CHECK(error_of(replaced(kGood, "  list-append: {model: snapshot-isolation}", "  bank:")) ==
        "c.yaml:12:3: checker bank cannot judge workload list-append; those that can: list-append, "
        "stats");
  CHECK(load(replaced(kGood, "  list-append: {model: snapshot-isolation}", "  stats:")));
}

TEST_CASE("each workload is judged by checkers that there are") {
  for (const WorkloadEntry& workload : workload_catalog()) {
    REQUIRE_FALSE(workload.checkers.empty());
    for (const std::string_view name : workload.checkers) {
      const auto checkers = checker_catalog();
      CHECK(std::any_of(checkers.begin(), checkers.end(),
                        [&](const CheckerEntry& checker) { return checker.name == name; }));
    }
  }
}

TEST_CASE("changes that make no sense") {
  CampaignChanges changes;
  changes.assignments = {"workers"};
  CHECK(error_of(kGood, changes).find("expected key=value") != std::string::npos);
  changes.assignments = {"wrokers=4"};
  CHECK(error_of(kGood, changes) ==
        "--set wrokers=4: unknown setting \"wrokers\"; did you mean \"workers\"?");
  changes = {"clam", {}, {}, {}, false, {}};
  CHECK(error_of(kGood, changes).find("did you mean \"calm\"?") != std::string::npos);
}
