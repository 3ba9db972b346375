// The pass behind find_direct_anomalies(): state and steps. Its parts: direct_anomalies.cc compares
// reads with what others appended, own_state.cc with what the same transaction did before.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkers/cycles/direct_anomalies.h"
#include "checkers/cycles/explain.h"
#include "checkers/cycles/inference.h"

namespace ordeal::cycles {

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
inline constexpr std::string_view kTypeNames[kTypes] = {"G1a",
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

  DirectReport run();

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
  BigVector<Touched> touched_;
  std::vector<std::uint8_t> divergent_;  // keys with incompatible reads
  BigVector<std::size_t> slot_offset_;
  BigVector<Update> updates_;  // by key and version read
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

}  // namespace ordeal::cycles
