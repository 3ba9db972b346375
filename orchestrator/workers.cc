#include "orchestrator/workers.h"

#include <fmt/format.h>

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;

// After a connection could not be made; shorter than any fault, longer than a busy loop.
constexpr std::chrono::milliseconds kReconnectPause{50};

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace

struct Workers::Worker {
  std::size_t number = 0;
  std::atomic<ProcessId> process;
  std::unique_ptr<Generator> generator;
  std::unique_ptr<Client> client;              // null until the first operation and after a loss
  std::atomic<std::int64_t> busy_since_ns{0};  // 0: not in an operation
  std::atomic<bool> connecting{false};
  std::jthread thread;
};

Workers::Workers(WorkerPlan plan)
    : plan_(std::move(plan)), pacer_(plan_.workers, plan_.lead, plan_.rate) {
  for (std::size_t number = 0; number < plan_.workers; ++number) {
    auto worker = std::make_unique<Worker>();
    worker->number = number;
    worker->process = ProcessId{static_cast<std::int64_t>(number)};
    worker->generator = plan_.workload.generator(
        number, plan_.workers, plan_.random.derive(fmt::format("worker {}", number)));
    workers_.push_back(std::move(worker));
  }
}

Workers::~Workers() = default;

void Workers::start(std::stop_token over, std::stop_token abort) {
  running_ = workers_.size();
  for (auto& worker : workers_) {
    worker->thread =
        std::jthread([this, &worker = *worker, over, abort] { loop(worker, over, abort); });
  }
}

void Workers::join() {
  for (auto& worker : workers_) {
    if (worker->thread.joinable()) worker->thread.join();
  }
}

void Workers::loop(Worker& worker, const std::stop_token& over, const std::stop_token& abort) {
  while (!over.stop_requested()) {
    pacer_.wait(worker.number, over);
    if (over.stop_requested()) break;
    perform(worker, worker.generator->next(), abort);
  }
  pacer_.leave(worker.number);
  --running_;
}

void Workers::run_final(std::stop_token stop) {
  for (auto& worker : workers_) {
    while (!stop.stop_requested()) {
      auto invocation = worker->generator->next_final();
      if (!invocation) break;
      perform(*worker, std::move(*invocation), stop);
    }
  }
}

void Workers::perform(Worker& worker, Invocation invocation, const std::stop_token& stop) {
  const Payload payload = invocation.payload;
  plan_.recorder.record(worker.process, Phase::invoke, invocation.function,
                        std::move(invocation.payload));
  worker.busy_since_ns = now_ns();
  Outcome outcome = Info{};
  try {
    outcome = attempt(worker, payload, stop);
  } catch (const std::exception& error) {  // a bug of the client's: all that is known is this
    outcome = Info{fmt::format("exception: {}", error.what())};
  }
  worker.busy_since_ns = 0;
  complete(worker, payload, invocation.function, std::move(outcome));
}

Outcome Workers::attempt(Worker& worker, const Payload& payload, const std::stop_token& stop) {
  if (worker.client == nullptr || !worker.client->connected()) {
    worker.client.reset();
    worker.connecting = true;
    auto client = plan_.target.connect(plan_.workload_name, worker.process, stop);
    worker.connecting = false;
    if (!client) {
      std::this_thread::sleep_for(kReconnectPause);
      return Fail{"no connection: " + client.error().message};
    }
    worker.client = std::move(*client);
  }
  return worker.client->invoke(payload, stop);
}

void Workers::complete(Worker& worker, const Payload& invoked, const std::string& function,
                       Outcome outcome) {
  const ProcessId process = worker.process;
  const auto record = [&](Phase phase, Payload payload, std::string note) {
    plan_.recorder.record(process, phase, function, std::move(payload), std::move(note));
  };
  std::visit(Overloaded{[&](Ok& ok) { record(Phase::ok, std::move(ok.payload), ""); },
                        [&](Fail& fail) { record(Phase::fail, invoked, std::move(fail.note)); },
                        [&](Info& info) {
                          // The operation may still be running: its process can't go on, nor its
                          // connection.
                          worker.process =
                              ProcessId{process.value + static_cast<std::int64_t>(plan_.workers)};
                          worker.client.reset();
                          record(Phase::info, invoked, std::move(info.note));
                        }},
             outcome);
}

std::vector<std::string> Workers::stalled(std::chrono::milliseconds longest) const {
  std::vector<std::string> lines;
  for (const auto& worker : workers_) {
    const std::int64_t since = worker->busy_since_ns;
    const auto waited = std::chrono::nanoseconds(since == 0 ? 0 : now_ns() - since);
    if (waited > longest) {
      lines.push_back(
          fmt::format("worker {} (process {}) has waited {:.1f} s for {}", worker->number,
                      worker->process.load().value, std::chrono::duration<double>(waited).count(),
                      worker->connecting ? "a connection" : "its operation to complete"));
    }
  }
  return lines;
}

}  // namespace ordeal
