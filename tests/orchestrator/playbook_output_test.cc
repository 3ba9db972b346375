// What is read from the output of ansible-playbook: tasks, failures, changes; and what is hidden.
#include "orchestrator/playbook_output.h"

#include <catch2/catch.hpp>

using namespace ordeal;

namespace {

struct Reading {
  std::vector<std::string> lines;
  std::vector<std::string> tasks;
  PlaybookOutput output;

  explicit Reading(std::vector<std::string> secrets = {})
      : output(
            std::move(secrets), [this](const std::string& line) { lines.push_back(line); },
            [this](const std::string& task) { tasks.push_back(task); }) {}
};

constexpr const char* kOutput = R"(
PLAY [Prepare every host] ******************************************************

TASK [base : Install packages] *************************************************
changed: [n1]
fatal: [n2]: FAILED! => {"changed": false, "msg": "non-zero return code", "stderr": "a\nno disk"}

RUNNING HANDLER [base : Reload sshd] *******************************************
fatal: [n3]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect", "unreachable": true}
fatal: [n1 -> n4]: FAILED! => {"msg": "never mind"}
...ignoring

PLAY RECAP *********************************************************************
n1                         : ok=5    changed=2    unreachable=0    failed=0    skipped=1
n2                         : ok=1    changed=1    unreachable=0    failed=1    skipped=0
)";

}  // namespace

TEST_CASE("tasks, failures and changes, in pieces of any length") {
  for (const std::size_t piece : {1U, 7U, 10'000U}) {
    Reading reading;
    const std::string text = kOutput;
    for (std::size_t i = 0; i < text.size(); i += piece) reading.output.add(text.substr(i, piece));
    reading.output.finish();
    CHECK(reading.tasks ==
          std::vector<std::string>{"base : Install packages", "base : Reload sshd"});
    CHECK(reading.output.task() == "base : Reload sshd");
    REQUIRE(reading.output.failures().size() == 2);
    CHECK(reading.output.failures()[0].host == "n2");
    CHECK(reading.output.failures()[0].task == "base : Install packages");
    CHECK(reading.output.failures()[0].reason == "non-zero return code: no disk");
    CHECK(reading.output.failures()[1].host == "n3");
    CHECK(reading.output.failures()[1].reason == "Failed to connect");
    CHECK(reading.output.changes() == 3);
    CHECK(reading.lines.size() == 15);
  }
}

TEST_CASE("secrets are hidden, also within JSON, and over lines") {
  Reading reading({"pa\"ss", "pa", "line one\nline two"});
  reading.output.add("fatal: [n1]: FAILED! => {\"msg\": \"login with pa\\\"ss\"}\npa\"ss pa\n");
  reading.output.add("line one\nand line two");
  reading.output.finish();
  for (const std::string& line : reading.lines) {
    INFO(line);
    for (const char* secret : {"pa", "ss", "line one", "line two"}) {
      CHECK(line.find(secret) == std::string::npos);
    }
  }
  CHECK(reading.output.failures().at(0).reason == "login with ********");
  CHECK(reading.output.last_lines().find("******** ******** | ******** | and ********") == 0);
}
