#include "orchestrator/vacuity.h"

#include <catch2/catch.hpp>

using namespace ordeal;

namespace {

using Findings = std::vector<std::string>;

class Script {
 public:
  Script& mark(int second, std::string_view function) {
    return add(second, kNemesis, Phase::info, std::string(function), Opaque{"nil"});
  }
  Script& fault(int second, FaultAction action, const std::string& note = "") {
    const FaultEvent event{"kill", action, {"n1"}, "", {"client-db"}};
    return add(second, kNemesis, Phase::info, "kill", event, note);
  }
  Script& op(int second, Phase phase) { return add(second, ProcessId{1}, phase, "txn", Txn{}); }
  Findings findings(const Findings& faults, const Findings& legs = {}) && {
    return std::move(*this).findings_of({faults, legs});
  }
  Findings findings_of(const Planned& planned) && {
    return find_vacuity(std::move(builder_).build(), planned);
  }
  Script& add(int second, ProcessId process, Phase phase, std::string function, Payload payload,
              std::string note = "") {
    builder_.add({next_++, std::chrono::seconds(second), process, phase, std::move(function),
                  std::move(payload), std::move(note)});
    return *this;
  }

 private:
  HistoryBuilder builder_;
  std::uint64_t next_ = 0;
};

Script full_run() {
  Script script;
  script.mark(0, kStartChaos).op(1, Phase::ok).fault(2, FaultAction::inject).op(3, Phase::ok);
  script.fault(4, FaultAction::heal).op(8, Phase::ok).mark(10, kStopChaos);
  return script;
}

}  // namespace

TEST_CASE("a run that tested something has no findings") {
  CHECK(full_run().findings({"kill"}).empty());
}

TEST_CASE("nothing committed") {
  Script script;
  script.mark(0, kStartChaos).op(1, Phase::fail).op(2, Phase::info).mark(10, kStopChaos);
  CHECK(std::move(script).findings({}) == Findings{"no client operation completed ok"});
}

TEST_CASE("what the nemesis completes is no progress of the clients") {
  Script nemesis;
  nemesis.add(1, kNemesis, Phase::ok, "x", Opaque{"nil"});
  CHECK(std::move(nemesis).findings({}) == Findings{"no client operation completed ok"});
}

TEST_CASE("a planned fault that never happened, or that failed") {
  CHECK(full_run().findings({"kill", "pause"}) == Findings{"fault pause never happened"});
  Script script;
  script.mark(0, kStartChaos).op(1, Phase::ok).fault(2, FaultAction::inject, "n1: no such host");
  script.op(8, Phase::ok).mark(10, kStopChaos);
  CHECK(std::move(script).findings({"kill"}, {"client-db"}) ==
        Findings{"fault kill never happened: 1 injection failed, the last one, kill: n1: no such "
                 "host",
                 "no fault reached leg client-db: 1 injection failed, the last one, kill: n1: no "
                 "such host"});
}

TEST_CASE("why what was planned did not happen") {
  using namespace std::chrono_literals;
  const auto why = [](const std::string& name) {
    Planned planned{{name}, {}};
    planned.turns = {{"kill", 2s}, {"pause", 5500ms}, {"partition", 12s}};
    Script script = full_run();
    const auto findings = std::move(script).findings_of(planned);
    return findings.empty() ? "" : findings.at(0);
  };
  CHECK(why("kill") == "");
  CHECK(why("stop") == "fault stop never happened: it was not drawn");
  CHECK(why("partition") ==
        "fault partition never happened: the run ended first: its turn was at "
        "12s, and chaos ended at 10s");
  CHECK(why("pause") ==
        "fault pause never happened: its turn, at 5500ms, did not come: what was "
        "before took longer than planned");
  Script failed;
  failed.mark(0, kStartChaos).op(1, Phase::ok);
  for (const char* note : {"failed: it has no effect: n1: a", "failed: it has no effect: n1: b"}) {
    failed.fault(2, FaultAction::inject, note);
  }
  failed.op(8, Phase::ok);
  CHECK(std::move(failed).findings({"kill"}) ==
        Findings{"fault kill never happened: 2 injections failed, the last one, kill: it has no "
                 "effect: n1: b"});
  Script open;
  open.op(1, Phase::ok).op(2, Phase::ok);
  open.add(3, kNemesis, Phase::invoke, "start-kill",
           FaultEvent{"kill", FaultAction::inject, {"n1"}, ""})
      .op(3, Phase::ok);
  CHECK(std::move(open).findings({"kill"}) ==
        Findings{"fault kill never happened: the run ended before its effect was seen"});
}

TEST_CASE("a fault of both directions that was seen in one alone") {
  const auto findings = [](const std::string& at_first, const std::string& in_the_end) {
    FaultEvent latency{"latency", FaultAction::inject, {}, "", {"client-db"}, "both"};
    latency.seen_direction = at_first;
    Script script;
    script.mark(0, kStartChaos).op(1, Phase::ok);
    script.add(2, kNemesis, Phase::info, "start-latency", latency);
    latency.action = FaultAction::heal;
    latency.seen_direction = in_the_end;
    script.op(7, Phase::ok).add(8, kNemesis, Phase::info, "stop-latency", latency);
    script.mark(10, kStopChaos);
    Planned planned{{"latency"}, {"client-db"}};
    CHECK(Script(script).findings_of(planned).empty());
    planned.both = {"latency"};
    return std::move(script).findings_of(planned);
  };
  const Findings alone{
      "fault latency is to strike both directions, and had an effect upstream alone"};
  CHECK(findings("upstream", "upstream") == alone);
  CHECK(findings("upstream", "") == alone);
  CHECK(findings("upstream", "both").empty());
  CHECK(findings("upstream", "downstream").empty());
  CHECK(findings("", "").empty());  // both at once is all that was looked at
}

TEST_CASE("what was planned survives the history's header") {
  using namespace std::chrono_literals;
  Planned planned{{"kill", "pause"}, {"client-db"}};
  planned.turns = {{"kill", 2s}, {"client-db", 2500ms}};
  planned.both = {"pause"};
  HistoryHeader header;
  add_facts(planned, header);
  const Planned read = planned_of(header);
  CHECK(read.faults == planned.faults);
  CHECK(read.legs == planned.legs);
  CHECK(read.turns == planned.turns);
  CHECK(read.both == planned.both);
  CHECK_FALSE(planned_of(HistoryHeader{}).turns);
}

TEST_CASE("a planned leg that no fault reached") {
  CHECK(full_run().findings({"kill"}, {"client-db"}).empty());
  CHECK(full_run().findings({"kill"}, {"client-db", "replication"}) ==
        Findings{"no fault reached leg replication"});
}

TEST_CASE("progress in one half only") {
  Script first;
  first.mark(0, kStartChaos).op(1, Phase::ok).mark(10, kStopChaos);
  CHECK(std::move(first).findings({}) ==
        Findings{"nothing completed ok in the second half of chaos"});
  Script second;
  second.mark(0, kStartChaos).op(9, Phase::ok).mark(10, kStopChaos);
  CHECK(std::move(second).findings({}) ==
        Findings{"nothing completed ok in the first half of chaos"});
}

TEST_CASE("progress after chaos does not count for it") {
  Script script;
  script.mark(0, kStartChaos).op(1, Phase::ok).mark(10, kStopChaos).op(11, Phase::ok);
  CHECK(std::move(script).findings({}).size() == 1);
}

TEST_CASE("nothing committed before or during faults") {
  Script before;
  before.mark(0, kStartChaos).fault(1, FaultAction::inject).op(2, Phase::ok);
  before.fault(3, FaultAction::heal).op(8, Phase::ok).mark(10, kStopChaos);
  CHECK(std::move(before).findings({"kill"}) ==
        Findings{"nothing completed ok before the first fault"});
  Script during;
  during.mark(0, kStartChaos).op(1, Phase::ok).fault(2, FaultAction::inject);
  during.fault(4, FaultAction::heal).op(8, Phase::ok).mark(10, kStopChaos);
  CHECK(std::move(during).findings({"kill"}) ==
        Findings{"nothing completed ok between the first fault and the last heal"});
}
