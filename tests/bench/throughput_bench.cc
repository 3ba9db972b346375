// How fast is the list-append client beside a bare libpqxx loop that does the same transactions
// with as many threads? Starts a PostgreSQL of its own, runs both in turn, and prints their rates
// and the ratio.
//
//   throughput_bench [THREADS] [SECONDS_PER_ROUND] [ROUNDS] [fsync: on|off] [keys: own|shared]
//
// With keys of their own the threads don't conflict, and both sides do exactly the same work. With
// shared keys the rates say less: who is faster after an abort makes more conflicts.
//
// Rounds are short and alternate, so that whatever else the machine does meets both alike. With
// fsync off the disk does not dilute the difference. Exit status 0 when the ratio over all rounds
// is at least 0.9, else 1.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <latch>
#include <memory>
#include <pqxx/pqxx>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "remote/local_host.h"
#include "targets/target.h"
#include "workloads/workload.h"

namespace ordeal {
namespace {

using std::chrono::steady_clock;

constexpr int kPort = 15432;
constexpr double kGoal = 0.9;

template <class T>
T need(Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << result.error().message << '\n';
  std::exit(3);
}

void need(const Status& status) {
  if (status) return;
  std::cerr << status.error().message << '\n';
  std::exit(3);
}

// Rolls back by destruction, as its users write it. True when committed.
bool bare_transaction(pqxx::connection& connection, const Txn& txn) {
  try {
    pqxx::transaction<pqxx::serializable> work(connection);
    for (const auto& micro_op : txn.micro_ops) {
      if (micro_op.function == MicroFunction::append) {
        work.exec_prepared("append", micro_op.key.integer(),
                           std::to_string(micro_op.value.integer()));
      } else {
        const auto rows = work.exec_prepared("read", micro_op.key.integer());
        if (!rows.empty() && rows[0][0].size() == 0) std::abort();
      }
    }
    work.commit();
    return true;
  } catch (const pqxx::failure&) {
    return false;
  }
}

class Bench {
 public:
  Bench(const std::string& fsync, bool own_keys)
      : directory_(make_directory()), own_keys_(own_keys) {
    HostSpec spec;
    spec.name = "n1";
    spec.address = "127.0.0.1";
    spec.local = true;
    spec.directory = directory_;
    std::vector<std::unique_ptr<Host>> hosts;
    hosts.push_back(make_local_host(spec, {}));
    cluster_ = std::make_unique<Cluster>(std::move(hosts));
    cluster_->control_address = "127.0.0.1";
    workload_options_ = need(Options::make("workload", workload().options, {}));
    const auto options = need(Options::make("target", target_catalog().front().options,
                                            {{"port", {std::to_string(kPort), "bench"}},
                                             {"settings.fsync", {fsync, "bench"}},
                                             {"faketime", {"false", "bench"}}}));
    target_ =
        need(target_catalog().front().make({options, "list-append", workload_options_, *cluster_}));
    need(target_->install(host(), {}));
    need(target_->start(host(), {}));
    need(target_->await_ready(host(), std::chrono::seconds(60), {}));
  }
  ~Bench() {
    std::ignore = target_->stop(host());
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  double committed_share = 0;  // of the last rate

  // Committed transactions a second; neither side retries.
  double client_rate(std::size_t threads, std::chrono::milliseconds duration) {
    reset();
    return rate(threads, duration, [this](std::size_t) {
      auto client = std::shared_ptr(need(target_->connect("list-append", ProcessId{0}, {})));
      return
          [client](const Txn& txn) { return std::holds_alternative<Ok>(client->invoke(txn, {})); };
    });
  }

  double bare_rate(std::size_t threads, std::chrono::milliseconds duration) {
    reset();
    return rate(threads, duration, [](std::size_t) {
      auto connection = std::make_shared<pqxx::connection>(
          fmt::format("hostaddr=127.0.0.1 port={} user=postgres dbname=postgres", kPort));
      connection->prepare("read", "SELECT value FROM lists WHERE id = $1");
      connection->prepare("append",
                          "INSERT INTO lists AS l (id, value) VALUES ($1, $2) ON CONFLICT (id) DO "
                          "UPDATE SET value = CONCAT(l.value, ',', EXCLUDED.value)");
      return [connection](const Txn& txn) { return bare_transaction(*connection, txn); };
    });
  }

 private:
  static std::filesystem::path make_directory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ordeal-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::exit(3);
    std::filesystem::permissions(pattern, std::filesystem::perms(0755));
    return pattern;
  }

  static void move_keys(Txn& txn, std::size_t worker) {
    for (auto& micro_op : txn.micro_ops) {
      micro_op.key =
          Value(micro_op.key.integer() + static_cast<std::int64_t>(worker) * 1'000'000'000);
    }
  }

  static const WorkloadEntry& workload() { return workload_catalog().front(); }
  Host& host() { return *cluster_->hosts().front(); }

  void reset() { need(need(target_->connect("list-append", ProcessId{0}, {}))->setup({})); }

  template <class MakeInvoke>
  double rate(std::size_t threads, std::chrono::milliseconds duration, MakeInvoke make_invoke) {
    const auto made = need(workload().make(workload_options_));
    std::atomic<std::uint64_t> committed = 0;
    std::atomic<std::uint64_t> attempted = 0;
    std::latch connected(static_cast<std::ptrdiff_t>(threads));
    {
      std::vector<std::jthread> workers;
      for (std::size_t worker = 0; worker < threads; ++worker) {
        workers.emplace_back([&, worker] {
          const auto invoke = make_invoke(worker);
          const auto generator =
              made->generator(worker, threads, Random(1).derive(std::to_string(worker)));
          connected.arrive_and_wait();
          const auto end = steady_clock::now() + duration;
          while (steady_clock::now() < end) {
            auto txn = std::get<Txn>(generator->next().payload);
            if (own_keys_) move_keys(txn, worker);
            if (invoke(txn)) ++committed;
            ++attempted;
          }
        });
      }
    }
    committed_share = static_cast<double>(committed) / static_cast<double>(attempted);
    return static_cast<double>(committed) / std::chrono::duration<double>(duration).count();
  }

  std::filesystem::path directory_;
  bool own_keys_;
  std::unique_ptr<Cluster> cluster_;
  Options workload_options_;
  std::unique_ptr<Target> target_;
};

int run(std::size_t threads, double seconds, int rounds, const std::string& fsync,
        const std::string& keys) {
  Bench bench(fsync, keys == "own");
  const std::chrono::milliseconds duration(static_cast<std::int64_t>(seconds * 1000));
  double bare_sum = 0;
  double client_sum = 0;
  for (int round = 0; round < rounds; ++round) {
    const double bare = bench.bare_rate(threads, duration);
    const double bare_share = bench.committed_share * 100;
    const double client = bench.client_rate(threads, duration);
    fmt::print("bare libpqxx {:.0f}/s ({:.0f} % committed), client {:.0f}/s ({:.0f} %)\n", bare,
               bare_share, client, bench.committed_share * 100);
    bare_sum += bare;
    client_sum += client;
  }
  const double ratio = client_sum / bare_sum;
  fmt::print(
      "{} threads, fsync {}, {} keys: bare {:.0f}/s, client {:.0f}/s, ratio {:.2f} (goal {})\n",
      threads, fsync, keys, bare_sum / rounds, client_sum / rounds, ratio, kGoal);
  return ratio >= kGoal ? 0 : 1;
}

}  // namespace
}  // namespace ordeal

int main(int count, char** words) {
  const auto word = [&](int index, double otherwise) {
    return count > index ? std::max(std::atof(words[index]), 0.1) : otherwise;
  };
  return ordeal::run(static_cast<std::size_t>(std::max(word(1, 5), 1.0)), word(2, 1),
                     static_cast<int>(std::max(word(3, 10), 1.0)), count > 4 ? words[4] : "on",
                     count > 5 ? words[5] : "own");
}
