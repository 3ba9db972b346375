#include "report/verdict_json.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "report_fixture.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;

Judgement judgement() { return {"h.edn", fixture::write_skew_result(), 0.125, {}}; }

TEST_CASE("the JSON verdict is the contract's, byte for byte") {
  CHECK(verdict_json(judgement(), false) ==
        R"({"file":"h.edn","checker":"list-append","model":"serializable","valid":false,)"
        R"("operations":8,"transactions":{"ok":2,"fail":0,"info":0},)"
        R"("anomaly_types":["G2-item"],"anomaly_counts":{"G2-item":12},)"
        R"("anomalies":[{"type":"G2-item","models_violated":["repeatable-read"],)"
        R"("explanation":"Let T1 and T2 be as below; each missed the other's append: )"
        R"(a contradiction!","steps":[)"
        R"({"from":4,"to":5,"edge":"rw","key":1,"next_value":1,)"
        R"("explanation":"T1 read [] of key 1"},)"
        R"({"from":5,"to":4,"edge":"rw","key":":y","next_value":1}]}],)"
        R"("weakest_violated":["repeatable-read"],)"
        R"("all_violated":["repeatable-read","serializable"],)"
        R"("strongest_possible":["snapshot-isolation"],"seconds":{"read":0.125,"check":0.25}})");
}

TEST_CASE("valid is true, false or \"unknown\"") {
  Judgement j = judgement();
  j.result.validity = Validity::valid;
  CHECK(Json::parse(verdict_json(j, true))["valid"] == true);
  j.result.validity = Validity::unknown;
  j.result.reason = "out of time";
  const Json unknown = Json::parse(verdict_json(j, true));
  CHECK(unknown["valid"] == "unknown");
  CHECK(unknown["reason"] == "out of time");
}

Json printed(Value value) {
  Judgement j = judgement();
  j.result.anomalies.front().steps.clear();
  j.result.anomalies.front().key = value;
  return Json::parse(verdict_json(j, false))["anomalies"][0]["key"];
}

TEST_CASE("values are printed as they stand in the history") {
  CHECK(printed(Value(-7)) == Json(-7));
  CHECK(printed(Value::symbol("\"a\\\"b\"")) == Json("a\"b"));
  CHECK(printed(Value::symbol(":x")) == Json(":x"));
  CHECK(printed(Value::symbol("[:pg 1]")) == Json("[:pg 1]"));
  CHECK(printed(Value::symbol("nil")).is_null());
  CHECK(printed(Value::symbol("true")) == Json(true));
}

TEST_CASE("large integers stay exact numbers") {
  CHECK(printed(Value(INT64_MAX)).dump() == "9223372036854775807");
  CHECK(printed(Value::symbol("123456789012345678901234567890N")) ==
        Json("123456789012345678901234567890N"));
}

TEST_CASE("anomalies without a cycle name operations, key and values") {
  Judgement j = judgement();
  Anomaly& anomaly = j.result.anomalies.front();
  anomaly.steps.clear();
  anomaly.operations = {3, 9};
  anomaly.key = Value(5);
  anomaly.values = {Value(1), Value::symbol(":b")};
  const Json printed_anomaly = Json::parse(verdict_json(j, false))["anomalies"][0];
  CHECK(printed_anomaly["steps"] == Json::array());
  CHECK(printed_anomaly["operations"] == Json({3, 9}));
  CHECK(printed_anomaly["key"] == 5);
  CHECK(printed_anomaly["values"] == Json::array({1, ":b"}));
}

TEST_CASE("a checker's own fields are added, and replace none of the contract") {
  Judgement j = judgement();
  j.result.fields = {{"total", "100"}, {"valid", "true"}, {"broken", "{"}};
  const Json printed_fields = Json::parse(verdict_json(j, false));
  CHECK(printed_fields["total"] == 100);
  CHECK(printed_fields["valid"] == false);
  CHECK(printed_fields["broken"] == "{");
}

TEST_CASE("text that is no UTF-8 still gives valid JSON") {
  Judgement j = judgement();
  j.file = "bad\xff\xfe";
  CHECK(Json::accept(verdict_json(j, false)));
}

TEST_CASE("a run's verdict is a superset with the run's own validity on top") {
  RunVerdict run = fixture::invalid_run();
  run.judgements.push_back(run.judgements.front());
  run.judgements.back().result.checker = "bank";
  run.overall = Validity::unknown;
  run.reason = "nothing was committed";
  const Json json = Json::parse(verdict_json(run, true));
  CHECK(json["valid"] == "unknown");
  CHECK(json["reason"] == "nothing was committed");
  CHECK(json["checker"] == "list-append");
  CHECK(json["run"]["seed"].dump() == "18446744073709551615");
  CHECK(json["run"]["faults"]["partition"] == 1);
  CHECK(json["run"]["duration_seconds"] == 2.5);
  CHECK(json["checkers"].size() == 2);
  CHECK(json["checkers"][0]["valid"] == false);
  CHECK_FALSE(Json::parse(verdict_json(fixture::invalid_run(), true)).contains("checkers"));
}

TEST_CASE("a run that was never judged still has every field of the contract") {
  RunVerdict run;
  run.reason = "the server did not start";
  const Json json = Json::parse(verdict_json(run, true));
  CHECK(json["valid"] == "unknown");
  CHECK(json["anomalies"].is_array());
}

}  // namespace
}  // namespace ordeal
