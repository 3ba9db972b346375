// One direction of one connection: source socket, a stage for each toxic, destination socket. All
// waiting is in arm(), with no byte in hand: bytes are in the stages' queues, in pipe_, in out_,
// or in the kernel. So a link can be changed between any two events.
//
// On the connection's worker only. For .cc files of this directory only (it includes Asio).
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "nemesis/proxy/chunk_queue.h"
#include "nemesis/proxy/leg_state.h"
#include "nemesis/proxy/stage.h"
#include "nemesis/proxy/workers.h"

namespace ordeal::proxy {

class Link {
 public:
  Link(Connection& connection, Direction direction, Socket& source, Socket& destination);

  // Has a stage for each of `toxics` in this direction that affects this connection.
  void reconcile(const std::vector<LiveToxic>& toxics);
  // Does all that can be done now, and arms what it waits for.
  void advance();
  // The source is gone, as a write to it told: its end will be a reset.
  void source_lost();
  // The destination is gone: what is there for it, and comes, is dropped.
  void lose_destination();
  void cancel();  // the connection is closed

  // The end has been delivered.
  bool finished() const { return delivered_end_ != End::none; }

 private:
  struct Slot {
    std::uint64_t id;
    std::uint64_t version;
    std::unique_ptr<Stage> stage;
    std::shared_ptr<EffectCounters> effect;
    ChunkQueue in;
    bool end_held = false;
  };

  using Timer =
      asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>;

  Slot take_or_make(const LiveToxic& toxic, std::vector<Slot>& old, TimePoint now);
  Random random_of(const LiveToxic& toxic) const;
  void take_out(std::size_t slot, TimePoint now);
  // Both: whether something moved, so that another round makes sense.
  bool receive(TimePoint now);
  bool deliver();
  bool receive_bulk(TimePoint now);
  void take_in(std::string_view bytes, TimePoint now);
  void drain_pipe();
  void destination_failed();
  void source_ended(bool reset, TimePoint now);
  void pass(TimePoint now);
  std::size_t send(std::string_view bytes);
  void deliver_end();
  void arm();
  void arm_timer();
  void watch_source();

  ChunkQueue& input() { return slots_.empty() ? out_ : slots_.front().in; }
  ChunkQueue& after(std::size_t slot) {
    return slot + 1 < slots_.size() ? slots_[slot + 1].in : out_;
  }
  bool wants_to_read() {
    return !source_ended_ && input().room() > 0 && (pipe_ == nullptr || !slots_.empty());
  }
  bool undelivered() const { return pipe_ != nullptr || !out_.empty(); }

  Connection& connection_;
  const Direction direction_;
  Socket& source_;
  Socket& destination_;
  std::vector<Slot> slots_;
  ChunkQueue out_;
  std::unique_ptr<Pipe> pipe_;    // borrowed while something is in it; goes before out_
  bool bulk_ = false;             // what was read last suggests that more will come
  TimePoint wake_ = kNever;       // when a stage wants to be asked again
  std::unique_ptr<Timer> timer_;  // made when first needed
  TimePoint timer_at_ = kNever;
  // Waits that are under way.
  bool reading_ = false, writing_ = false, watching_ = false;
  bool source_ended_ = false, source_lost_ = false, destination_lost_ = false;
  End delivered_end_ = End::none;
};

}  // namespace ordeal::proxy
