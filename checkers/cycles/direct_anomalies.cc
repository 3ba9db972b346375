#include "checkers/cycles/direct_anomalies.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "checkers/cycles/explain.h"
#include "checkers/cycles/models.h"

namespace ordeal::cycles {
namespace {

enum Type {
  kG1a,
  kG1b,
  kInternal,
  kFuture,
  kDuplicate,
  kIncompatible,
  kLost,
  kDirty,
  kGarbage,
  kCyclic,
  kTypes
};
constexpr std::string_view kTypeNames[kTypes] = {"G1a",
                                                 "G1b",
                                                 "internal",
                                                 "future-read",
                                                 "duplicate-elements",
                                                 "incompatible-order",
                                                 "lost-update",
                                                 "dirty-update",
                                                 "garbage-read",
                                                 "cyclic-versions"};

class DirectFinder {
 public:
  DirectFinder(const Inference& inference, std::size_t examples_max)
      : inference_(inference),
        transactions_(inference.transactions),
        history_(inference.transactions.history()),
        orders_(inference.orders),
        appends_(inference.appends),
        examples_max_(examples_max),
        touched_(history_.key_count()),
        divergent_(history_.key_count()) {}

  DirectReport run() {
    std::size_t slots = 0;
    slot_offset_.reserve(history_.key_count());
    for (KeyId key = 0; key < history_.key_count(); ++key) {
      slot_offset_.push_back(slots);
      slots += orders_.versions(key) + 1;
    }
    updates_.assign(slots, {});
    for (TxnId txn = 0; txn < transactions_.size(); ++txn) {
      if (transactions_.ok(txn)) check_transaction(txn);
    }
    for (KeyId key = 0; key < history_.key_count(); ++key) check_version_order(key);
    DirectReport report;
    for (int type = 0; type < kTypes; ++type) {
      if (counts_[type] > 0) report.counts.emplace(kTypeNames[type], counts_[type]);
    }
    report.examples = std::move(examples_);
    return report;
  }

 private:
  // What the transaction at hand has done to a key so far.
  struct Touched {
    TxnId txn = kNone;
    std::uint32_t base = kNone;        // micro-op: its latest read
    std::uint32_t first_read = kNone;  // micro-op
    bool appended = false;             // at all
    bool updated = false;              // after a read
    AppendId last = kNone;             // its latest append
    bool appended_since = false;       // since `base`
  };
  struct Update {
    TxnId first = kNone;
    std::uint32_t count = 0;
  };

  void check_transaction(TxnId txn);
  void check_read(TxnId txn, std::uint32_t at, const StoredMicroOp& read);
  void check_own_state(TxnId txn, std::uint32_t at, const StoredMicroOp& read, Touched& touched);
  void check_elements(TxnId txn, const StoredMicroOp& read, const ReadState& state);
  void check_element(TxnId txn, const StoredMicroOp& read, Value element);
  void check_divergent(TxnId txn, const StoredMicroOp& read);
  void check_append(TxnId txn, std::uint32_t at, const StoredMicroOp& append, AppendId id);
  void check_own_order(TxnId txn, const Append& first, const Append& second);
  void check_future(TxnId txn, std::uint32_t before, const StoredMicroOp& append);
  void check_lost_update(TxnId txn, const StoredMicroOp& read);
  void check_version_order(KeyId key);

  bool note(Type type, std::uint64_t count = 1) {
    counts_[type] += count;
    return shown_[type] < examples_max_;
  }
  void show(Type type, std::initializer_list<TxnId> txns, KeyId key, std::vector<Value> values,
            std::string explanation);
  std::string text(TxnId txn) const { return transaction_text(transactions_, txn); }
  std::string key_text(KeyId key) const { return history_.key(key).text(); }

  const Inference& inference_;
  const Transactions& transactions_;
  const History& history_;
  const VersionOrders& orders_;
  const Appends& appends_;
  std::size_t examples_max_;
  std::vector<Touched> touched_;
  std::vector<std::uint8_t> divergent_;  // keys with incompatible reads
  std::vector<std::size_t> slot_offset_;
  std::vector<Update> updates_;  // by key and version read
  struct DivergentUpdate {
    const StoredMicroOp* read;
    Update update;
  };
  std::unordered_map<std::uint64_t, std::vector<DivergentUpdate>> divergent_updates_;  // by hash
  bool own_state_wrong_ = false;
  std::uint64_t counts_[kTypes] = {};
  std::size_t shown_[kTypes] = {};
  std::vector<Anomaly> examples_;
};

void DirectFinder::show(Type type, std::initializer_list<TxnId> txns, KeyId key,
                        std::vector<Value> values, std::string explanation) {
  ++shown_[type];
  Anomaly anomaly;
  anomaly.type = kTypeNames[type];
  anomaly.models_violated = weakest_ruled_out(anomaly.type);
  anomaly.explanation = std::move(explanation);
  for (const TxnId txn : txns) {
    if (txn != kNone) anomaly.operations.push_back(transactions_.operation_index(txn));
  }
  anomaly.key = history_.key(key);
  anomaly.values = std::move(values);
  examples_.push_back(std::move(anomaly));
}

void DirectFinder::check_transaction(TxnId txn) {
  own_state_wrong_ = false;
  std::uint32_t at = 0;
  AppendId append = appends_.first_of(txn);
  for (const StoredMicroOp& micro_op : transactions_.micro_ops(txn)) {
    Touched& touched = touched_[micro_op.key];
    if (touched.txn != txn) {
      touched = {};
      touched.txn = txn;
    }
    if (micro_op.function == MicroFunction::append) {
      check_append(txn, at, micro_op, append++);
    } else {
      check_read(txn, at, micro_op);
    }
    ++at;
  }
}

void DirectFinder::check_read(TxnId txn, std::uint32_t at, const StoredMicroOp& read) {
  Touched& touched = touched_[read.key];
  if (touched.base != kNone || touched.appended) check_own_state(txn, at, read, touched);
  if (touched.first_read == kNone) touched.first_read = at;
  touched.base = at;
  touched.appended_since = false;
  if (read.length == 0 || appends_.ambiguous(read.key)) return;
  const ReadState state = orders_.resolve(read);
  if (!state.compatible) check_divergent(txn, read);
  check_elements(txn, read, state);
  // G1b: the last element is an append after which its transaction appended to the key again.
  // With repetitions, that is not the latest version.
  const Value element = history_.list(read).back();
  const AppendId last =
      orders_.has_duplicates(read.key) ? appends_.find(read.key, element) : state.last;
  const TxnId writer = last == kNone ? kNone : appends_[last].txn;
  if (writer == kNone || writer == txn || !appends_[last].intermediate) return;
  if (!note(kG1b)) return;
  show(kG1b, {txn, writer}, read.key, {element},
       fmt::format("{} read the intermediate state of key {} that ended in {}: {} appended that, "
                   "and then appended "
                   "more to the same key",
                   text(txn), key_text(read.key), element.text(), text(writer)));
}

// Cerone's axiom INT: a read agrees with the transaction's own latest read of the key and its
// appends since.
void DirectFinder::check_own_state(TxnId txn, std::uint32_t at, const StoredMicroOp& read,
                                   Touched& touched) {
  if (own_state_wrong_) return;  // one a transaction
  const auto micro_ops = transactions_.micro_ops(txn);
  const auto list = history_.list(read);
  std::vector<Value> expected;  // own appends since the base
  const std::uint32_t since = touched.base == kNone ? 0 : touched.base + 1;
  for (std::uint32_t own = since; touched.appended_since && own < at; ++own) {
    const bool counts =
        micro_ops[own].key == read.key && micro_ops[own].function == MicroFunction::append;
    if (counts) expected.push_back(micro_ops[own].value);
  }
  bool right = list.size() >= expected.size() &&
               std::equal(expected.begin(), expected.end(),
                          list.end() - static_cast<std::ptrdiff_t>(expected.size()));
  if (right && touched.base != kNone) {
    const StoredMicroOp& base = micro_ops[touched.base];
    const auto before = history_.list(base);
    right = list.size() == before.size() + expected.size() &&
            (base.list == read.list || std::equal(before.begin(), before.end(), list.begin()));
  }
  if (right) return;
  own_state_wrong_ = true;
  if (!note(kInternal)) return;
  std::vector<Value> wanted;
  if (touched.base != kNone) {
    const auto before = history_.list(micro_ops[touched.base]);
    wanted.assign(before.begin(), before.end());
  }
  wanted.insert(wanted.end(), expected.begin(), expected.end());
  std::string state = list_text(wanted);
  if (touched.base == kNone) state.insert(1, "... ");
  show(
      kInternal, {txn}, read.key, {list.begin(), list.end()},
      fmt::format(
          "{} read {} from key {}, but by its own earlier reads and appends it should have read {}",
          text(txn), list_text(list), key_text(read.key), state));
}

void DirectFinder::check_elements(TxnId txn, const StoredMicroOp& read, const ReadState& state) {
  if (state.compatible && !orders_.has_flaws(read.key)) return;
  if (state.compatible) {
    const auto flaws = orders_.flaws(read.key, read.length);
    if (flaws.failed == 0 && flaws.garbage == 0 && flaws.repeated == 0) return;
  }
  bool garbage = false;
  const auto list = history_.list(read);
  std::vector<Value> seen(list.begin(), list.end());
  std::sort(seen.begin(), seen.end(), [](Value a, Value b) { return a.bits() < b.bits(); });
  const bool repeated = std::adjacent_find(seen.begin(), seen.end()) != seen.end();
  for (const Value element : list) {
    check_element(txn, read, element);
    garbage = garbage || appends_.find(read.key, element) == kNone;
  }
  if (garbage && note(kGarbage)) {
    const auto unknown = std::find_if(list.begin(), list.end(), [&](Value element) {
      return appends_.find(read.key, element) == kNone;
    });
    show(kGarbage, {txn}, read.key, {*unknown},
         fmt::format("{} read {} in key {}, which nobody appended", text(txn), unknown->text(),
                     key_text(read.key)));
  }
  if (!repeated || !note(kDuplicate)) return;
  const auto twice = std::find_if(list.begin(), list.end(), [&](const Value& element) {
    return std::find(list.begin(), list.begin() + (&element - list.data()), element) !=
           list.begin() + (&element - list.data());
  });
  show(kDuplicate, {txn}, read.key, {*twice},
       fmt::format("{} read {} more than once in key {}: {}; it was appended once (a client or "
                   "database that "
                   "retries?)",
                   text(txn), twice->text(), key_text(read.key),
                   list_text(list, static_cast<std::size_t>(twice - list.begin()))));
}

// G1a: an element that a failed transaction appended.
void DirectFinder::check_element(TxnId txn, const StoredMicroOp& read, Value element) {
  const AppendId append = appends_.find(read.key, element);
  if (append == kNone || !transactions_.failed(appends_[append].txn) || !note(kG1a)) return;
  const TxnId writer = appends_[append].txn;
  show(kG1a, {txn, writer}, read.key, {element},
       fmt::format("{} read {} in key {}, which {} appended and which failed (was that really a "
                   "definite failure?)",
                   text(txn), element.text(), key_text(read.key), text(writer)));
}

// incompatible-order: reads of a key of which neither is a prefix of the other; counted once a key.
void DirectFinder::check_divergent(TxnId txn, const StoredMicroOp& read) {
  if (divergent_[read.key] != 0) return;
  divergent_[read.key] = 1;
  if (!note(kIncompatible)) return;
  const auto list = history_.list(read);
  const auto longest = orders_.longest_read(read.key);
  const auto [here, there] =
      std::mismatch(list.begin(), list.end(), longest.begin(), longest.end());
  const auto place = static_cast<std::size_t>(here - list.begin());
  show(kIncompatible, {txn}, read.key, {list.begin(), list.end()},
       fmt::format("{} read key {} as {}, others read it as {}: no order of appends gives both",
                   text(txn), key_text(read.key), list_text(list, place),
                   list_text(longest, place)));
}

void DirectFinder::check_append(TxnId txn, std::uint32_t at, const StoredMicroOp& append,
                                AppendId id) {
  Touched& touched = touched_[append.key];
  if (touched.last != kNone) check_own_order(txn, appends_[touched.last], appends_[id]);
  touched.last = id;
  if (touched.base != kNone) check_future(txn, at, append);
  if (!touched.updated && touched.first_read != kNone && !appends_.ambiguous(append.key)) {
    touched.updated = true;
    check_lost_update(txn, transactions_.micro_ops(txn)[touched.first_read]);
  }
  touched.appended = true;
  touched.appended_since = true;
}

// cyclic-versions: the version order reverses two appends of one transaction. An append that was
// not read comes after those that were.
void DirectFinder::check_own_order(TxnId txn, const Append& first, const Append& second) {
  if (second.version == kUnread || second.version > first.version) return;
  if (appends_.ambiguous(first.micro_op->key) || !note(kCyclic)) return;
  const KeyId key = first.micro_op->key;
  const Value earlier = first.micro_op->value;
  const Value later = second.micro_op->value;
  const std::string seen =
      first.version == kUnread
          ? fmt::format("the longest read of the key has {} without {}", later.text(),
                        earlier.text())
          : fmt::format("reads have {} before {}", later.text(), earlier.text());
  show(kCyclic, {txn}, key, {earlier, later},
       fmt::format("{} appended {} to key {} before {}, but {}: {}", text(txn), earlier.text(),
                   key_text(key), later.text(), seen,
                   list_text(orders_.longest_read(key), second.version - 1)));
}

// future-read: a read shows an element that its own transaction appends later.
void DirectFinder::check_future(TxnId txn, std::uint32_t before, const StoredMicroOp& append) {
  const auto micro_ops = transactions_.micro_ops(txn);
  const AppendId id = appends_.find(append.key, append.value);
  const bool own = id != kNone && appends_[id].txn == txn;
  for (std::uint32_t at = 0; own && at < before; ++at) {
    const StoredMicroOp& read = micro_ops[at];
    if (read.function != MicroFunction::read || read.key != append.key) continue;
    const ReadState state = orders_.resolve(read);
    const auto list = history_.list(read);
    const bool saw = state.compatible
                         ? state.version != kUnread && appends_[id].version <= state.version
                         : std::find(list.begin(), list.end(), append.value) != list.end();
    if (!saw) continue;
    if (note(kFuture)) {
      show(kFuture, {txn}, append.key, {append.value},
           fmt::format("{} read {} in key {} before it appended it", text(txn), append.value.text(),
                       key_text(append.key)));
    }
    return;
  }
}

// lost-update: two transactions read the same state of a key and both append to it (Elle: the order
// of the two is beside the point). Counted once for each such state.
void DirectFinder::check_lost_update(TxnId txn, const StoredMicroOp& read) {
  const ReadState state = orders_.resolve(read);
  Update* update = nullptr;
  if (state.compatible) {
    update = &updates_[slot_offset_[read.key] + state.version];
    // With repetitions in a list, several lengths show the same version.
    if (orders_.has_duplicates(read.key)) update = nullptr;
  }
  if (update == nullptr) {
    const auto list = history_.list(read);
    std::uint64_t hash = read.key;
    for (const Value element : list) hash = (hash ^ element.bits()) * 0x9e3779b97f4a7c15U;
    auto& group = divergent_updates_[hash];
    auto found = std::find_if(group.begin(), group.end(), [&](const DivergentUpdate& other) {
      const auto that = history_.list(*other.read);
      return other.read->key == read.key &&
             std::equal(that.begin(), that.end(), list.begin(), list.end());
    });
    if (found == group.end()) found = group.insert(found, {&read, {}});
    update = &found->update;
  }
  ++update->count;
  if (update->count == 1) update->first = txn;
  if (update->count != 2 || !note(kLost)) return;
  const auto list = history_.list(read);
  show(kLost, {update->first, txn}, read.key, {list.begin(), list.end()},
       fmt::format("{} and {} both read key {} as {} and then appended to it: one update was lost "
                   "on the other",
                   text(update->first), text(txn), key_text(read.key), list_text(list)));
}

// dirty-update: a committed append follows an aborted one in the version order.
void DirectFinder::check_version_order(KeyId key) {
  AppendId aborted = kNone;
  for (std::uint32_t version = 1; version <= orders_.versions(key); ++version) {
    const AppendId append = orders_.append_of(key, version);
    if (append == kNone) continue;
    const TxnId txn = appends_[append].txn;
    if (transactions_.failed(txn)) {
      if (aborted == kNone) aborted = append;
    } else if (transactions_.ok(txn) && aborted != kNone) {
      const TxnId failed = appends_[aborted].txn;
      const Value dirty = appends_[aborted].micro_op->value;
      const Value next = appends_[append].micro_op->value;
      if (note(kDirty)) {
        show(kDirty, {failed, txn}, key, {dirty, next},
             fmt::format("{} appended {} to key {} upon {}, which {} appended and which failed",
                         text(txn), next.text(), key_text(key), dirty.text(), text(failed)));
      }
      aborted = kNone;
    }
  }
}

}  // namespace

DirectReport find_direct_anomalies(const Inference& inference, std::size_t examples_max) {
  return DirectFinder(inference, examples_max).run();
}

}  // namespace ordeal::cycles
