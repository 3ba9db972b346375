#include "checkers/cycles/single_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>

#include "checkers/cycles/explain.h"
#include "checkers/cycles/models.h"

namespace ordeal::cycles {
namespace {

// In the order of a key: reads of version v at 2v, the append that installed it at 2v - 1, appends
// that nobody read behind all of them.
using Place = std::int64_t;
constexpr Place kNowhere = -1;
constexpr Place kLast = std::numeric_limits<Place>::max();

// The latest known, and whose it is.
struct Mark {
  Place place = kNowhere;
  TxnId txn = kNone;
  void raise(Place to, TxnId by) {
    if (to > place) *this = {to, by};
  }
};

// What a transaction did to a key, seen from outside.
struct Touch {
  KeyId key = 0;
  Place read = kNowhere;         // the first, unless after an append of its own
  Place first_write = kNowhere;  // earliest of its appends
  Place last_write = kNowhere;
  bool reads_before(const Mark& mark) const { return read != kNowhere && read < mark.place; }
  bool writes_before(const Mark& mark) const {
    return first_write != kNowhere && first_write < mark.place;
  }
  bool first_before(const Mark& mark) const {
    return read != kNowhere ? reads_before(mark) : writes_before(mark);
  }
  Place last() const { return std::max(read, last_write); }
};

class Finder {
 public:
  Finder(const Inference& inference, std::size_t examples_max)
      : inference_(inference),
        transactions_(inference.transactions),
        history_(inference.transactions.history()),
        examples_max_(examples_max),
        done_(history_.key_count()),
        last_touch_(history_.key_count(), 0) {}

  DirectReport run() {
    std::vector<TxnId> of_completion(history_.size(), kNone);
    std::vector<TxnId> of_invocation(history_.size(), kNone);
    for (TxnId txn = 0; txn < transactions_.size(); ++txn) {
      const Transaction& transaction = transactions_[txn];
      if (!inference_.orders.committed(txn)) continue;
      if (transaction.invocation != kNoPosition) of_invocation[transaction.invocation] = txn;
      if (transactions_.ok(txn)) of_completion[transaction.completion] = txn;
    }
    for (Position position = 0; position < history_.size(); ++position) {
      if (of_invocation[position] != kNone) invoked(of_invocation[position]);
      if (of_completion[position] != kNone) completed(of_completion[position]);
    }
    return std::move(report_);
  }

 private:
  struct Session {
    Mark read, write;
  };

  void read_touches(TxnId txn);
  void invoked(TxnId txn);
  void completed(TxnId txn);
  void check_session(TxnId txn);
  std::unordered_map<KeyId, Session>& session_of(TxnId txn) {
    return sessions_[transactions_.reported_event(txn).process.value];
  }
  void found(const char* type, const Mark& mark, TxnId txn, KeyId key, std::string_view what);

  const Inference& inference_;
  const Transactions& transactions_;
  const History& history_;
  std::size_t examples_max_;
  std::vector<Mark> done_;               // by key: what had been seen or written by completion
  std::vector<std::size_t> last_touch_;  // by key: its place in touches_
  std::vector<Touch> touches_;           // of the transaction at hand
  std::unordered_map<std::int64_t, std::unordered_map<KeyId, Session>> sessions_;  // by process
  DirectReport report_;
};

void Finder::read_touches(TxnId txn) {
  touches_.clear();
  AppendId next = inference_.appends.first_of(txn);
  for (const StoredMicroOp& micro_op : transactions_.micro_ops(txn)) {
    const bool is_append = micro_op.function == MicroFunction::append;
    const AppendId append = is_append ? next++ : kNone;
    const KeyId key = micro_op.key;
    if (inference_.appends.ambiguous(key)) continue;
    if (!is_append && !micro_op.has_list && !transactions_.shows_reads(txn)) continue;
    const std::size_t place = last_touch_[key];
    const bool is_new = place >= touches_.size() || touches_[place].key != key;
    if (is_new) {
      last_touch_[key] = touches_.size();
      touches_.push_back({key});
    }
    Touch& touch = touches_[last_touch_[key]];
    if (is_append) {
      const std::uint32_t version = inference_.appends[append].version;
      const Place at = version == kUnread ? kLast : 2 * Place{version} - 1;
      touch.first_write = touch.first_write == kNowhere ? at : std::min(touch.first_write, at);
      touch.last_write = std::max(touch.last_write, at);
    } else if (is_new) {
      const std::uint32_t version = inference_.orders.resolve(micro_op).version;
      if (version != kUnread) touch.read = 2 * Place{version};
    }
  }
}

void Finder::found(const char* type, const Mark& mark, TxnId txn, KeyId key,
                   std::string_view what) {
  if (mark.txn == txn || ++report_.counts[type] > examples_max_) return;
  const TxnId txns[] = {mark.txn, txn};
  report_.examples.push_back(
      direct_anomaly(transactions_, type, txns, key, {},
                     fmt::format("key {}: {} {} {}, in the order of the key's versions {}",
                                 history_.key(key).text(), transaction_text(transactions_, txn),
                                 what, transaction_text(transactions_, mark.txn),
                                 list_text(inference_.orders.longest_read(key)))));
}

void Finder::invoked(TxnId txn) {
  read_touches(txn);
  for (const Touch& touch : touches_) {
    const Mark& done = done_[touch.key];
    if (touch.first_before(done)) {
      found("non-linearizable-key", done, txn, touch.key,
            "was invoked after the completion of, but comes before,");
    }
  }
  if (!transactions_.ok(txn)) check_session(txn);
}

// A session is one operation after the other, so that completions come in its order.
void Finder::completed(TxnId txn) {
  read_touches(txn);
  check_session(txn);
  auto& session = session_of(txn);
  for (const Touch& touch : touches_) {
    done_[touch.key].raise(touch.last(), txn);
    session[touch.key].read.raise(touch.read, txn);
    session[touch.key].write.raise(touch.last_write, txn);
  }
}

void Finder::check_session(TxnId txn) {
  auto& session = session_of(txn);
  for (const Touch& touch : touches_) {
    const auto& [read, write] = session[touch.key];
    const auto note = [&](bool wrong, const char* type, const Mark& mark, std::string_view what) {
      if (wrong) found(type, mark, txn, touch.key, what);
    };
    note(touch.reads_before(read), "N-MR", read,
         "read an older version than its session had read in");
    note(touch.reads_before(write), "MYR", write, "did not read what its session had written in");
    note(touch.writes_before(write), "N-MW", write, "wrote before what its session had written in");
    note(touch.writes_before(read), "MRWD", read, "wrote before what its session had read in");
  }
}

}  // namespace

DirectReport find_single_key_anomalies(const Inference& inference, std::size_t examples_max) {
  return Finder(inference, examples_max).run();
}

void add_impossible_states(const DirectReport& direct, DirectReport& single_keys) {
  static constexpr std::array<std::string_view, 7> kTypes = {
      "G1a",         "garbage-read",       "duplicate-elements", "internal",
      "future-read", "incompatible-order", "cyclic-versions"};
  const auto counts = [&](std::string_view type) {
    return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
  };
  for (const auto& [type, count] : direct.counts) {
    if (counts(type)) single_keys.counts["non-linearizable-key"] += count;
  }
  for (const Anomaly& anomaly : direct.examples) {
    if (!counts(anomaly.type)) continue;
    Anomaly& added = single_keys.examples.emplace_back(anomaly);
    added.type = "non-linearizable-key";
    added.models_violated = weakest_ruled_out(added.type);
  }
}

}  // namespace ordeal::cycles
