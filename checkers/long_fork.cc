#include "checkers/long_fork.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "checkers/findings.h"
#include "checkers/single_values.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::vector<KeyId>;  // sorted

constexpr std::size_t kForksMax = 1000;  // listed

// What a read saw of its group. States are ordered by the number of keys that were there.
struct State {
  Keys present;
  Position read = 0;
};

bool smaller(const State& a, const State& b) {
  return a.present.size() != b.present.size() ? a.present.size() < b.present.size()
                                              : a.present < b.present;
}

class LongForkCheck {
 public:
  LongForkCheck(const History& history, const Options& options) : history_(history) {
    if (!options.text("group-size").empty()) {
      group_size_ = static_cast<std::size_t>(options.integer("group-size"));
    }
  }

  bool run(const std::stop_token& stop) {
    return for_each_client_event(history_, stop, [&](Position at, const Event& event) {
      const auto ops = history_.micro_ops(event);
      if (ops.empty()) return;
      const bool writes = ops.size() == 1 && ops[0].function == MicroFunction::write;
      const bool reads = std::all_of(ops.begin(), ops.end(), [](const StoredMicroOp& op) {
        return op.function == MicroFunction::read;
      });
      if (writes && (event.phase == Phase::invoke || event.partner == kNoPosition))
        write(at, ops[0]);
      if (reads && event.phase == Phase::ok) read(at, ops);
    });
  }

  void conclude(CheckResult& result) && {
    for (auto& [keys, states] : groups_) find_forks(states);
    result.fields = {{"reads-count", std::to_string(reads_)},
                     {"early-read-count", std::to_string(early_)},
                     {"late-read-count", std::to_string(late_)},
                     {"forks", json_text(forks_)}};
    if (reads_ == 0 && illegal_.empty()) illegal_ = "no read of a group of keys completed";
    // What is found in a history of another kind proves nothing.
    if (!illegal_.empty()) {
      findings_ = Findings();
      result.fields["forks"] = "[]";
    }
    std::move(findings_).conclude(
        result, {}, illegal_, fmt::format("the {} reads agree on the order of the writes", reads_));
  }

 private:
  std::uint64_t index(Position at) const { return history_.event(at).index; }

  void illegal(std::string why) {
    if (illegal_.empty()) illegal_ = std::move(why);
  }

  void write(Position at, const StoredMicroOp& op) {
    if (writes_.try_emplace(op.key, at).second) return;
    illegal(fmt::format("operations {} and {} both write key {}; expected one write a key",
                        index(writes_.at(op.key)), index(at), history_.key(op.key).text()));
  }

  void read(Position at, std::span<const StoredMicroOp> ops) {
    ++reads_;
    std::map<KeyId, Value> values;
    for (const StoredMicroOp& op : ops) {
      values[op.key] = op.value;  // of a key that was read twice, the last counts
      if (op.has_list) illegal(fmt::format("operation {} reads lists, not registers", index(at)));
    }
    if (group_size_ == 0) group_size_ = values.size();
    if (values.size() != group_size_) {
      illegal(fmt::format("operation {} reads {} keys; expected groups of {}", index(at),
                          values.size(), group_size_));
    }
    Keys keys;
    State state{{}, at};
    for (const auto& [key, value] : values) {
      keys.push_back(key);
      if (value.is_nil()) continue;
      state.present.push_back(key);
      check_value(at, key, value);
    }
    if (state.present.empty()) ++early_;
    if (state.present.size() == keys.size()) ++late_;
    groups_[std::move(keys)].push_back(std::move(state));
  }

  void check_value(Position at, KeyId key, Value value) {
    const auto [seen, first] = seen_.try_emplace(key, at, value);
    if (first || seen->second.second == value) return;
    illegal(
        fmt::format("operations {} and {} read different values of key {}; expected one write "
                    "a key",
                    index(seen->second.first), index(at), history_.key(key).text()));
  }

  // All states fit into one order if and only if each contains the next smaller one.
  void find_forks(std::vector<State>& states) {
    std::stable_sort(states.begin(), states.end(), smaller);
    for (std::size_t at = 1; at < states.size(); ++at) {
      const State& a = states[at - 1];
      const State& b = states[at];
      if (std::includes(b.present.begin(), b.present.end(), a.present.begin(), a.present.end())) {
        continue;
      }
      if (forks_.size() < kForksMax) forks_.push_back({index(a.read), index(b.read)});
      findings_.add("long-fork", [&](Anomaly& anomaly) { explain(a, b, anomaly); });
    }
  }

  static KeyId only_in(const State& a, const State& b) {
    return *std::find_if(a.present.begin(), a.present.end(), [&](KeyId key) {
      return !std::binary_search(b.present.begin(), b.present.end(), key);
    });
  }

  void explain(const State& a, const State& b, Anomaly& anomaly) const {
    const KeyId x = only_in(a, b);
    const KeyId y = only_in(b, a);
    anomaly.models_violated = {"snapshot-isolation"};
    anomaly.operations = {index(a.read), index(b.read)};
    anomaly.explanation = fmt::format(
        "operation {0} read key {2} written and key {3} not yet, operation {1} read key {3} "
        "written "
        "and key {2} not yet: there is no order of the two writes that fits both",
        index(a.read), index(b.read), history_.key(x).text(), history_.key(y).text());
    add_cycle(a.read, x, b.read, y, anomaly);
  }

  // x written -> read by a -> y written -> read by b -> x written.
  void add_cycle(Position a, KeyId x, Position b, KeyId y, Anomaly& anomaly) const {
    if (!was_read_as_written(x) || !was_read_as_written(y)) return;
    const auto reads = [&](KeyId key, Position reader) {
      Step step = step_of("wr", outcome(key), index(reader), key);
      step.value = value_of(key);
      return step;
    };
    const auto missed = [&](Position reader, KeyId key) {
      Step step = step_of("rw", index(reader), outcome(key), key);
      step.next_value = value_of(key);
      return step;
    };
    anomaly.steps = {reads(x, a), missed(a, y), reads(y, b), missed(b, x)};
  }

  bool was_read_as_written(KeyId key) const {
    return writes_.contains(key) && seen_.at(key).second == value_of(key);
  }

  Step step_of(std::string edge, std::uint64_t from, std::uint64_t to, KeyId key) const {
    Step step;
    step.from = from;
    step.to = to;
    step.edge = std::move(edge);
    step.key = history_.key(key);
    return step;
  }

  Value value_of(KeyId key) const {
    return history_.micro_ops(history_.event(writes_.at(key)))[0].value;
  }

  // The index that stands for the write: of its completion, unless that is info.
  std::uint64_t outcome(KeyId key) const {
    const Position write = writes_.at(key);
    const Position partner = history_.event(write).partner;
    const bool open = partner == kNoPosition || history_.event(partner).phase == Phase::info;
    return index(open ? write : partner);
  }

  const History& history_;
  std::size_t group_size_ = 0;                  // 0: not yet known
  std::unordered_map<KeyId, Position> writes_;  // their invocations
  std::unordered_map<KeyId, std::pair<Position, Value>> seen_;
  std::map<Keys, std::vector<State>> groups_;
  std::uint64_t reads_ = 0;
  std::uint64_t early_ = 0;
  std::uint64_t late_ = 0;
  std::string illegal_;
  Json forks_ = Json::array();
  Findings findings_;
};

}  // namespace

std::span<const OptionSpec> long_fork_options() {
  static constexpr std::array kOptions = {
      OptionSpec{"group-size", OptionType::integer, "",
                 "keys that each read reads; by default as many as the first does", 1, 1'000'000},
  };
  return kOptions;
}

CheckResult check_long_fork(const History& history, const Options& options, std::stop_token stop) {
  return check_in_one_pass("long-fork", history, LongForkCheck(history, options), stop);
}

}  // namespace ordeal
