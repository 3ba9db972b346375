// The relation "comes before" among the versions of each key; see versions.h for what it is
// inferred from. Cost: linear, with linearizable-keys times the number of transactions that are
// under way at once (the transitive reduction of an interval order).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "checkers/registers/versions.h"

namespace ordeal::registers {

struct Assumptions {
  bool wfr_keys = false;
  bool sequential_keys = false;
  bool linearizable_keys = false;
};

enum class Source : std::uint8_t { initial, wfr, process, realtime };
std::string_view source_name(Source source);

struct Predecessor {
  VersionId version = kNone;
  Source source = Source::initial;
};

// A set of versions of one key, each of which comes before each other.
struct VersionCycle {
  KeyId key = 0;
  std::vector<VersionId> versions;  // ascending
};

class VersionOrders {
 public:
  VersionOrders(const Transactions& transactions, const Versions& versions, const Touches& touches,
                Assumptions assumptions);

  // Those that come directly before it by a source other than `initial`. Not to be relied on for
  // keys with a cycle.
  std::span<const Predecessor> before(VersionId version) const {
    return std::span(predecessors_)
        .subspan(offsets_[version], offsets_[version + 1] - offsets_[version]);
  }
  const std::vector<VersionCycle>& cycles() const { return cycles_; }
  bool cyclic(KeyId key) const { return cyclic_[key]; }

 private:
  struct Edge {
    VersionId from = kNone;
    VersionId to = kNone;
    Source source = Source::wfr;
  };
  void add(VersionId from, VersionId to, Source source) {
    if (from != to && from != kNone && to != kNone) edges_.push_back({from, to, source});
  }
  void infer_in_transactions(const Transactions& transactions, const Touches& touches);
  void infer_in_processes(const Transactions& transactions, const Touches& touches);
  void infer_in_real_time(const Transactions& transactions, const Touches& touches);
  void lay_out(const Versions& versions);
  void find_cycles(const Versions& versions);

  std::vector<Edge> edges_;
  std::vector<std::size_t> offsets_;
  std::vector<Predecessor> predecessors_;
  std::vector<VersionCycle> cycles_;
  std::vector<bool> cyclic_;
};

}  // namespace ordeal::registers
