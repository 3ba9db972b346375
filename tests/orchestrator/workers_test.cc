// Workers against a database of a few lines: what is recorded for each outcome, who gets a new
// process and a new connection, and who is seen to be stuck.
#include "orchestrator/workers.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <thread>

#include "history/reader.h"
#include "tests/support/temporary_directory.h"

using namespace ordeal;
using namespace std::chrono_literals;

namespace {

using Answer = std::function<Outcome(const Payload&, std::stop_token)>;

class ScriptedClient : public Client {
 public:
  explicit ScriptedClient(Answer answer) : answer_(std::move(answer)) {}
  Status setup(std::stop_token) override { return {}; }
  Outcome invoke(const Payload& payload, std::stop_token stop) override {
    return answer_(payload, stop);
  }
  bool connected() const override { return true; }

 private:
  Answer answer_;
};

// Only what workers use: connections.
class ScriptedTarget : public Target {
 public:
  explicit ScriptedTarget(Answer answer) : answer_(std::move(answer)) {}

  std::vector<std::string> hosts() const override { return {"n1"}; }
  std::string role(const std::string&) const override { return "db"; }
  std::vector<Leg> legs() const override { return {}; }
  Status reroute(const std::string&, const Path&, const std::string&, int) override { return {}; }
  Status install(Host&, std::stop_token) override { return {}; }
  Status start(Host&, std::stop_token) override { return {}; }
  Status await_ready(Host&, std::chrono::milliseconds, std::stop_token) override { return {}; }
  Status stop(Host&) override { return {}; }
  ServerControl control(const Host&) const override { return {}; }
  Status download_logs(Host&, const std::filesystem::path&) override { return {}; }
  Result<std::string> version(Host&) override { return "1"; }
  Result<std::vector<std::string>> members(Host&) override { return hosts(); }
  Result<std::unique_ptr<Client>> connect(std::string_view, ProcessId, std::stop_token) override {
    ++connections;
    if (refuse) return surroundings_error("refused");
    return std::make_unique<ScriptedClient>(answer_);
  }

  std::atomic<int> connections{0};
  std::atomic<bool> refuse{false};

 private:
  Answer answer_;
};

class CountingWorkload : public Workload {
  class Numbers : public Generator {
   public:
    explicit Numbers(Random random) : random_(std::move(random)) {}
    Invocation next() override {
      return {"txn",
              Txn{{{MicroFunction::append, Value(1), Value(random_.between(0, 1000000)), {}}}}};
    }
    std::optional<Invocation> next_final() override {
      if (finals_-- == 0) return std::nullopt;
      return Invocation{"final", Txn{}};
    }

   private:
    Random random_;
    int finals_ = 1;
  };

 public:
  std::unique_ptr<Generator> generator(std::size_t, std::size_t, Random random) const override {
    return std::make_unique<Numbers>(std::move(random));
  }
};

struct Scene {
  explicit Scene(Answer answer, std::uint64_t seed = 1)
      : target(std::move(answer)),
        recorder(Recorder::create(directory.path() / "h.ohist", {}).value()),
        workers({workload, "w", target, *recorder, 2, 1000, 0, Random(seed)}) {}

  History run(std::chrono::milliseconds time) {
    workers.start(over.get_token(), {});
    std::this_thread::sleep_for(time);
    over.request_stop();
    workers.join();
    workers.run_final({});
    REQUIRE(recorder->close());
    return read_history(directory.path() / "h.ohist").value().history;
  }

  TemporaryDirectory directory;
  CountingWorkload workload;
  ScriptedTarget target;
  std::unique_ptr<Recorder> recorder;
  std::stop_source over;
  Workers workers;
};

Outcome slowly_ok(const Payload& payload, std::stop_token) {
  std::this_thread::sleep_for(1ms);
  return Ok{payload};
}

// Invocations' micro-ops, per worker of two.
std::map<std::int64_t, std::vector<Txn>> invoked(const History& history) {
  std::map<std::int64_t, std::vector<Txn>> sequences;
  for (Position position = 0; position < history.size(); ++position) {
    const Operation operation = history.operation(position);
    if (operation.phase != Phase::invoke || operation.function != "txn") continue;
    sequences[operation.process.value % 2].push_back(std::get<Txn>(operation.payload));
  }
  return sequences;
}

}  // namespace

TEST_CASE("every invocation completes, in its process, on one connection a worker") {
  Scene scene(slowly_ok);
  const History history = scene.run(50ms);
  REQUIRE(history.size() > 20);
  CHECK(scene.target.connections == 2);
  for (const Event& event : history.events()) {
    CHECK(event.partner != kNoPosition);
    CHECK((event.process.value == 0 || event.process.value == 1));
  }
  CHECK(history.function(history.events().back()) == "final");
}

TEST_CASE("after info the process is retired and the connection replaced") {
  std::atomic<int> calls{0};
  Scene scene([&](const Payload& payload, std::stop_token stop) -> Outcome {
    if (++calls == 5) return Info{"lost"};
    return slowly_ok(payload, stop);
  });
  const History history = scene.run(50ms);
  CHECK(scene.target.connections == 3);
  std::map<std::int64_t, Phase> last;
  for (const Event& event : history.events()) {
    const auto before = last.find(event.process.value);
    CHECK((before == last.end() || before->second != Phase::info));
    last[event.process.value] = event.phase;
  }
  CHECK(last.size() == 3);  // 0, 1, and 2 or 3 in place of the retired one
}

TEST_CASE("a refused connection is a fail, and tried again") {
  Scene scene(slowly_ok);
  scene.target.refuse = true;
  std::jthread mend([&] {
    std::this_thread::sleep_for(150ms);
    scene.target.refuse = false;
  });
  const History history = scene.run(400ms);
  CHECK(history.event(2).phase != Phase::info);
  std::size_t failed = 0;
  std::size_t ok = 0;
  for (Position position = 0; position < history.size(); ++position) {
    const Event& event = history.event(position);
    if (event.phase == Phase::ok) ++ok;
    if (event.phase != Phase::fail) continue;
    ++failed;
    CHECK(history.note(position) == "no connection: refused");
  }
  CHECK(failed >= 2);
  CHECK(ok > 10);
}

TEST_CASE("what a client throws leaves the outcome open") {
  Scene scene([](const Payload& payload, std::stop_token) -> Outcome {
    std::this_thread::sleep_for(1ms);
    if (std::get<Txn>(payload).micro_ops.empty()) return Ok{payload};  // of the final phase
    throw std::runtime_error("a bug");
  });
  const History history = scene.run(20ms);
  std::size_t thrown = 0;
  for (Position position = 0; position < history.size(); ++position) {
    if (history.event(position).phase != Phase::info) continue;
    CHECK(history.note(position) == "exception: a bug");
    ++thrown;
  }
  CHECK(thrown >= 2);
}

TEST_CASE("one seed draws one sequence per worker") {
  const auto first = invoked(Scene(slowly_ok, 7).run(40ms));
  const auto second = invoked(Scene(slowly_ok, 7).run(40ms));
  const auto other = invoked(Scene(slowly_ok, 8).run(40ms));
  for (const auto& [worker, sequence] : first) {
    const auto& again = second.at(worker);
    const auto common = static_cast<std::ptrdiff_t>(std::min(sequence.size(), again.size()));
    REQUIRE(common > 3);
    CHECK(std::equal(sequence.begin(), sequence.begin() + common, again.begin()));
    CHECK(sequence.front() != other.at(worker).front());
  }
}

TEST_CASE("who is stuck is named, with how long") {
  std::atomic<bool> release{false};
  Scene scene([&](const Payload& payload, std::stop_token) -> Outcome {
    while (!release) std::this_thread::sleep_for(1ms);
    return Ok{payload};
  });
  scene.workers.start(scene.over.get_token(), {});
  std::this_thread::sleep_for(120ms);
  const auto stalled = scene.workers.stalled(100ms);
  REQUIRE(stalled.size() == 2);
  CHECK(stalled[0].find("worker 0 (process 0) has waited 0.1 s for its operation") == 0);
  CHECK(scene.workers.stalled(10s).empty());
  scene.over.request_stop();
  CHECK_FALSE(scene.workers.finished());
  release = true;
  scene.workers.join();
  CHECK(scene.workers.finished());
  CHECK(scene.workers.stalled(0ms).empty());
}
