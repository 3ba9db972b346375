#include "checkers/registers/direct_anomalies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkers/cycles/explain.h"
#include "checkers/cycles/models.h"

namespace ordeal::registers {
namespace {

class Finder {
 public:
  Finder(const Inference& inference, std::size_t examples_max)
      : inference_(inference),
        transactions_(inference.transactions),
        history_(inference.transactions.history()),
        versions_(inference.versions),
        examples_max_(examples_max),
        own_(history_.key_count()),
        updates_(inference.versions.size()) {}

  cycles::DirectReport run() {
    for (TxnId txn = 0; txn < transactions_.size(); ++txn) {
      if (!transactions_.ok(txn)) continue;
      check_micro_ops(txn);
      check_updates(txn);
    }
    check_versions();
    return std::move(report_);
  }

 private:
  // What the transaction at hand last read or wrote of a key.
  struct Own {
    TxnId txn = kNone;
    Value value;
  };
  struct Update {
    TxnId first = kNone;
    bool lost = false;
  };

  void check_micro_ops(TxnId txn);
  void check_read(TxnId txn, std::size_t at, const StoredMicroOp& read);
  void check_updates(TxnId txn);
  void check_versions();
  bool writes_later(TxnId txn, std::size_t at, const StoredMicroOp& read) const;

  // Counts it, and says whether it is still worth showing.
  bool note(const std::string& type) { return ++report_.counts[type] <= examples_max_; }
  void show(std::string_view type, const std::vector<TxnId>& txns, KeyId key,
            std::vector<Value> values, std::string explanation);
  std::string writers_text(const std::vector<TxnId>& writers) const;
  std::string text(TxnId txn) const { return cycles::transaction_text(transactions_, txn); }
  std::string key_text(KeyId key) const { return history_.key(key).text(); }

  const Inference& inference_;
  const Transactions& transactions_;
  const History& history_;
  const Versions& versions_;
  std::size_t examples_max_;
  std::vector<Own> own_;         // by key
  std::vector<Update> updates_;  // by version read
  cycles::DirectReport report_;
};

void Finder::show(std::string_view type, const std::vector<TxnId>& txns, KeyId key,
                  std::vector<Value> values, std::string explanation) {
  report_.examples.push_back(cycles::direct_anomaly(transactions_, type, txns, key,
                                                    std::move(values), std::move(explanation)));
}

std::string Finder::writers_text(const std::vector<TxnId>& writers) const {
  std::vector<std::string> texts;
  for (const TxnId txn : writers) texts.push_back(text(txn));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// internal. Cerone's axiom INT: a read agrees with the transaction's own latest read or write of
// the key.
void Finder::check_micro_ops(TxnId txn) {
  std::size_t at = 0;
  for (const StoredMicroOp& micro_op : transactions_.micro_ops(txn)) {
    const std::size_t here = at++;
    const bool is_read = micro_op.function == MicroFunction::read;
    if (is_read && micro_op.value.is_nil() && !transactions_.shows_reads(txn)) continue;
    Own& own = own_[micro_op.key];
    const bool repeats = own.txn == txn && own.value == micro_op.value;
    if (is_read && !repeats) {
      if (own.txn == txn && note("internal")) {
        show("internal", {txn}, micro_op.key, {micro_op.value},
             fmt::format("{} read {} from key {}, but by its own earlier reads and writes it "
                         "should have read {}",
                         text(txn), micro_op.value.text(), key_text(micro_op.key),
                         own.value.text()));
      }
      check_read(txn, here, micro_op);
    }
    own = {txn, micro_op.value};
  }
}

bool Finder::writes_later(TxnId txn, std::size_t at, const StoredMicroOp& read) const {
  const auto rest = transactions_.micro_ops(txn).subspan(at);
  return std::any_of(rest.begin(), rest.end(), [&](const StoredMicroOp& micro_op) {
    return micro_op.function == MicroFunction::write && micro_op.key == read.key &&
           micro_op.value == read.value;
  });
}

// What a read may not see: a value that it writes itself, later
// (future-read); one that nobody wrote (garbage-read); one that a failed transaction wrote (G1a);
// one that another transaction then overwrote itself (G1b).
void Finder::check_read(TxnId txn, std::size_t at, const StoredMicroOp& read) {
  if (read.value.is_nil() || versions_.ambiguous(read.key)) return;
  const std::string value = read.value.text();
  const VersionId version = versions_.find(read.key, read.value);
  if (version == kNone) {
    if (note("garbage-read")) {
      const Value other = cycles::as_other_type(read.value);
      const bool mixed = !other.is_nil() && versions_.find(read.key, other) != kNone;
      show("garbage-read", {txn}, read.key, {read.value},
           fmt::format(
               "{} read {} from key {}, which nobody wrote{}", text(txn), value, key_text(read.key),
               mixed ? fmt::format("; {} was (values of mixed types?)", other.text()) : ""));
    }
    return;
  }
  const Write& write = versions_.write_of(version);
  if (write.txn == txn) {
    if (writes_later(txn, at, read) && note("future-read")) {
      show("future-read", {txn}, read.key, {read.value},
           fmt::format("{} read {} from key {} before it wrote it", text(txn), value,
                       key_text(read.key)));
    }
  } else if (transactions_.failed(write.txn)) {
    if (note("G1a")) {
      show("G1a", {txn, write.txn}, read.key, {read.value},
           fmt::format("{} read {} from key {}, which {} wrote and which failed (was that really a "
                       "definite failure?)",
                       text(txn), value, key_text(read.key), text(write.txn)));
    }
  } else if (!write.final && note("G1b")) {
    show("G1b", {txn, write.txn}, read.key, {read.value},
         fmt::format("{} read {} from key {}, an intermediate state: {} wrote that, and then wrote "
                     "to the same key again",
                     text(txn), value, key_text(read.key), text(write.txn)));
  }
}

// lost-update: two transactions read the same version of a key and both write to it; counted once a
// version. dirty-update: a transaction builds on a version whose writer failed.
void Finder::check_updates(TxnId txn) {
  for (const Touch& touch : inference_.touches.of(txn)) {
    if (touch.read == kNone || touch.write == kNone || touch.read == touch.write) continue;
    const StoredMicroOp* seen = versions_.write_of(touch.read).micro_op;
    const Value value = seen == nullptr ? Value() : seen->value;
    const TxnId writer = versions_.write_of(touch.read).txn;
    if (writer != kNone && transactions_.failed(writer) && note("dirty-update")) {
      show("dirty-update", {txn, writer}, touch.key, {value},
           fmt::format("{} read {} from key {}, which {} wrote and which failed, and wrote to that "
                       "key itself",
                       text(txn), value.text(), key_text(touch.key), text(writer)));
    }
    Update& update = updates_[touch.read];
    if (update.first == kNone) {
      update.first = txn;
    } else if (!update.lost) {
      update.lost = true;
      if (note("lost-update")) {
        show("lost-update", {update.first, txn}, touch.key, {value},
             fmt::format("{} and {} both read key {} as {} and wrote to it: one of the two updates "
                         "is lost",
                         text(update.first), text(txn), key_text(touch.key), value.text()));
      }
    }
  }
}

void Finder::check_versions() {
  for (const VersionCycle& cycle : inference_.orders.cycles()) {
    if (!note("cyclic-versions")) continue;
    std::vector<TxnId> writers;
    std::vector<Value> values;
    std::vector<std::string> texts;
    for (const VersionId version : cycle.versions) {
      const Write& write = versions_.write_of(version);
      if (write.txn != kNone) writers.push_back(write.txn);
      values.push_back(write.micro_op == nullptr ? Value() : write.micro_op->value);
      texts.push_back(values.back().text());
    }
    show("cyclic-versions", writers, cycle.key, std::move(values),
         fmt::format("key {}: by the orders that its users were promised, each of the versions {} "
                     "comes before each other; they were written by {}",
                     key_text(cycle.key), fmt::join(texts, ", "), writers_text(writers)));
  }
}

}  // namespace

cycles::DirectReport find_direct_anomalies(const Inference& inference, std::size_t examples_max) {
  return Finder(inference, examples_max).run();
}

}  // namespace ordeal::registers
