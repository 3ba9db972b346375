// The first histories are those of Jepsen's own tests.
#include <catch2/catch.hpp>

#include "tests/checkers/single_objects.h"

namespace ordeal::test {
namespace {

TEST_CASE("total-queue: what went in came out") {
  const auto result = Events()
                          .invoke(1, "enqueue", "1")
                          .invoke(2, "enqueue", "2")
                          .ok(2, "enqueue", "2")
                          .get("dequeue", "1")
                          .get("dequeue", "2")
                          .check("total-queue");
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields == Fields{{"attempt-count", "2"},
                                {"acknowledged-count", "1"},
                                {"ok-count", "2"},
                                {"unexpected-count", "0"},
                                {"lost-count", "0"},
                                {"duplicated-count", "0"},
                                {"recovered-count", "1"},
                                {"lost", "[]"},
                                {"unexpected", "[]"},
                                {"duplicated", "[]"},
                                {"recovered", "[1]"}});
}

TEST_CASE("total-queue: lost, unexpected and duplicated at once") {
  const auto result = Events()
                          .invoke(1, "enqueue", ":hung")
                          .pair("enqueue", ":enqueued")
                          .pair("enqueue", ":dup")
                          .invoke(4, "dequeue")
                          .get("dequeue", ":wtf")
                          .get("dequeue", ":dup")
                          .get("dequeue", ":dup")
                          .check("total-queue");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields == Fields{{"attempt-count", "3"},
                                {"acknowledged-count", "2"},
                                {"ok-count", "1"},
                                {"unexpected-count", "1"},
                                {"lost-count", "1"},
                                {"duplicated-count", "1"},
                                {"recovered-count", "0"},
                                {"lost", R"([":enqueued"])"},
                                {"unexpected", R"([":wtf"])"},
                                {"duplicated", R"([":dup"])"},
                                {"recovered", "[]"}});
  CHECK(result.anomaly_types == Names{"lost", "unexpected"});
  CHECK(result.anomaly_types_beyond == Names{"duplicated"});
}

TEST_CASE("total-queue: lost") {
  const auto result =
      Events().pair("enqueue", "1").pair("enqueue", "1").get("dequeue", "1").check("total-queue");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields.at("lost") == "[1]");
  CHECK(result.anomalies.at(0).operations == std::vector<std::uint64_t>{3});
  CHECK(
      result.anomalies.at(0).explanation ==
      "operation 3 enqueued 1 and was acknowledged, but it was dequeued less often than enqueued");
  const auto open = Events()
                        .pair("enqueue", "1")
                        .invoke(0, "dequeue")
                        .info(0, "dequeue", "nil")
                        .check("total-queue");
  CHECK(open.anomalies.at(0).explanation ==
        "operation 1 enqueued 1 and was acknowledged, but it was never dequeued (unless it was "
        "taken by one of the 1 dequeues whose outcome is open)");
}

TEST_CASE("total-queue: unexpected") {
  const auto result =
      Events().pair("enqueue", "1").get("dequeue", "1").get("dequeue", "2").check("total-queue");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"unexpected"});
  CHECK(result.anomalies.at(0).explanation ==
        "operation 5 dequeued 2, which nobody ever tried to enqueue");
}

TEST_CASE("total-queue: a duplicate alone is valid") {
  const auto result =
      Events().pair("enqueue", "1").get("dequeue", "1").get("dequeue", "1").check("total-queue");
  CHECK(result.validity == Validity::valid);
  CHECK(result.anomaly_types.empty());
  CHECK(result.anomalies.at(0).explanation ==
        "1 was dequeued 2 times, the last time by operation 5, but enqueued at most 1 times");
}

TEST_CASE("total-queue: a failed enqueue may come out") {
  const auto result = Events()
                          .pair("enqueue", "1", Phase::fail)
                          .pair("enqueue", "2")
                          .get("dequeue", "1")
                          .get("dequeue", "2")
                          .check("total-queue");
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields.at("recovered") == "[1]");
}

TEST_CASE("total-queue: a drain is a dequeue of each of its elements") {
  const auto drained = [](std::string_view elements) {
    return Events()
        .pair("enqueue", "1")
        .pair("enqueue", "2")
        .get("drain", elements)
        .check("total-queue");
  };
  CHECK(drained("[2 1]").validity == Validity::valid);
  CHECK(drained("[2]").fields.at("lost") == "[1]");
  CHECK(drained("[1 2 3]").anomaly_types == Names{"unexpected"});
}

TEST_CASE("total-queue: an open drain may have taken what is missing") {
  const auto result =
      Events().pair("enqueue", "1").invoke(0, "drain").info(0, "drain", "nil").check("total-queue");
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason ==
        "1 acknowledged elements were not dequeued, but operation 3, a drain, does not tell what "
        "it took");
  CHECK(Events()
            .pair("enqueue", "1")
            .get("dequeue", "1")
            .invoke(0, "drain")
            .check("total-queue")
            .validity == Validity::valid);
}

TEST_CASE("total-queue: without an acknowledged enqueue unknown") {
  CHECK(Events().check("total-queue").fields.at("lost") == "[]");
  const auto result = Events().pair("enqueue", "1", Phase::info).check("total-queue");
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason == "no enqueue was acknowledged");
}

}  // namespace
}  // namespace ordeal::test
