// What a leg's connections share, on all threads: toxics, counters, and the list of connections.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "base/random.h"
#include "nemesis/proxy/address.h"
#include "nemesis/proxy/effect.h"
#include "nemesis/proxy/proxy.h"

namespace ordeal::proxy {

class Connection;

struct LiveToxic {
  Toxic toxic;
  std::uint64_t id = 0;       // never used again, also when the name is
  std::uint64_t version = 0;  // changes with every update
  std::shared_ptr<EffectCounters> effect = std::make_shared<EffectCounters>();
};

// Replaced as a whole, so that readers need the lock for the copy of a pointer only.
using ToxicList = std::shared_ptr<const std::vector<LiveToxic>>;

struct DirectionCounters {
  std::atomic<std::uint64_t> received_bytes{0}, delivered_bytes{0};
};

// Thread-safe.
class LegState {
 public:
  explicit LegState(Random seeded) : random(seeded) {}

  const Random random;  // what toxics draw is derived from it, so that order changes nothing
  std::array<DirectionCounters, 2> bytes;  // by Direction
  std::atomic<std::uint64_t> accepted{0};

  ToxicList toxics() const {
    const std::lock_guard lock(mutex_);
    return toxics_;
  }
  void set_toxics(std::vector<LiveToxic> toxics) {
    auto list = std::make_shared<const std::vector<LiveToxic>>(std::move(toxics));
    const std::lock_guard lock(mutex_);
    toxics_ = std::move(list);
  }

  Address upstream() const {
    const std::lock_guard lock(mutex_);
    return upstream_;
  }
  void set_upstream(Address upstream) {
    const std::lock_guard lock(mutex_);
    upstream_ = std::move(upstream);
  }

  LegMode mode() const {
    const std::lock_guard lock(mutex_);
    return mode_;
  }
  void set_mode(LegMode mode) {
    const std::lock_guard lock(mutex_);
    mode_ = mode;
  }

  // What the leg does with a new connection is decided in one step with its registration, so that
  // none slips through while the leg is being disabled.
  LegMode enter(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    if (mode_ == LegMode::enabled) connections_.insert(connection);
    return mode_;
  }
  void leave(const std::shared_ptr<Connection>& connection) {
    const std::lock_guard lock(mutex_);
    connections_.erase(connection);
  }
  std::vector<std::shared_ptr<Connection>> connections() const {
    const std::lock_guard lock(mutex_);
    return {connections_.begin(), connections_.end()};
  }
  std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }

 private:
  mutable std::mutex mutex_;
  ToxicList toxics_ = std::make_shared<const std::vector<LiveToxic>>();
  Address upstream_;
  LegMode mode_ = LegMode::refuse;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
};

}  // namespace ordeal::proxy
