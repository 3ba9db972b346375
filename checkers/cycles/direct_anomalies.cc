#include "checkers/cycles/direct_anomalies.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/cycles/direct_finder.h"
#include "checkers/cycles/models.h"

namespace ordeal::cycles {

DirectReport DirectFinder::run() {
  std::size_t slots = 0;
  slot_offset_.reserve(history_.key_count());
  for (KeyId key = 0; key < history_.key_count(); ++key) {
    slot_offset_.push_back(slots);
    slots += orders_.versions(key) + 1;
  }
  updates_.assign(slots, {});
  for (TxnId txn = 0; txn < transactions_.size(); ++txn) {
    if (orders_.committed(txn)) check_transaction(txn);
  }
  for (KeyId key = 0; key < history_.key_count(); ++key) check_version_order(key);
  DirectReport report;
  for (int type = 0; type < kTypes; ++type) {
    if (counts_[type] > 0) report.counts.emplace(kTypeNames[type], counts_[type]);
  }
  report.examples = std::move(examples_);
  return report;
}

void DirectFinder::show(Type type, std::initializer_list<TxnId> txns, KeyId key,
                        std::vector<Value> values, std::string explanation) {
  ++shown_[type];
  examples_.push_back(direct_anomaly(transactions_, kTypeNames[type], {txns.begin(), txns.size()},
                                     key, std::move(values), std::move(explanation)));
}

// An info transaction that was observed has appended, in the order that it meant to.
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
    } else if (transactions_.ok(txn) && (micro_op.has_list || transactions_.shows_reads(txn))) {
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
    const Value other = as_other_type(*unknown);
    const bool mixed = appends_.find(read.key, other) != kNone;
    show(kGarbage, {txn}, read.key, {*unknown},
         fmt::format("{} read {} in key {}, which nobody appended{}", text(txn), unknown->text(),
                     key_text(read.key),
                     mixed ? fmt::format("; {} was (values of mixed types?)", other.text()) : ""));
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

DirectReport find_direct_anomalies(const Inference& inference, std::size_t examples_max) {
  return DirectFinder(inference, examples_max).run();
}

}  // namespace ordeal::cycles
