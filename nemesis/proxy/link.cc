#include "nemesis/proxy/link.h"

#include <algorithm>
#include <cerrno>

#include "nemesis/proxy/connection.h"
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

// After so many rounds other connections have their turn.
constexpr int kRoundsMax = 4;
// So much at once, and more is likely to come.
constexpr std::size_t kBulkBytes = std::size_t{32} * 1024;

DirectionCounters& counters(Connection& connection, Direction direction) {
  return connection.leg().bytes[static_cast<std::size_t>(direction)];
}

}  // namespace

Link::Link(Connection& connection, Direction direction, Socket& source, Socket& destination)
    : connection_(connection), direction_(direction), source_(source), destination_(destination) {}

void Link::reconcile(const std::vector<LiveToxic>& toxics) {
  const TimePoint now = Clock::now();
  const auto affected = [&](const LiveToxic& live) {
    return live.toxic.direction == direction_ && random_of(live).chance(live.toxic.toxicity);
  };
  std::vector<const LiveToxic*> wanted;
  for (const LiveToxic& live : toxics) {
    if (affected(live)) wanted.push_back(&live);
  }
  for (std::size_t i = slots_.size(); i-- > 0;) {
    const bool stays = std::any_of(wanted.begin(), wanted.end(),
                                   [&](auto* live) { return live->id == slots_[i].id; });
    if (!stays) take_out(i, now);
  }
  std::vector<Slot> old = std::move(slots_);
  slots_.clear();
  for (const LiveToxic* live : wanted) slots_.push_back(take_or_make(*live, old, now));
}

Link::Slot Link::take_or_make(const LiveToxic& live, std::vector<Slot>& old, TimePoint now) {
  const auto found =
      std::find_if(old.begin(), old.end(), [&](const Slot& slot) { return slot.id == live.id; });
  if (found != old.end()) {
    if (found->version != live.version) found->stage->update(live.toxic.attributes);
    found->version = live.version;
    return std::move(*found);
  }
  Slot slot{live.id,
            live.version,
            find_toxic_type(live.toxic.type)->make(random_of(live).derive("stage"), now),
            live.effect,
            {}};
  slot.stage->update(live.toxic.attributes);
  slot.in.set_capacity(slot.stage->capacity_bytes());
  return slot;
}

Random Link::random_of(const LiveToxic& live) const {
  return connection_.random().derive(direction_name(direction_)).derive(live.toxic.name);
}

void Link::take_out(std::size_t slot, TimePoint now) {
  ChunkQueue& next = after(slot);
  if (const End end = slots_[slot].stage->end_on_removal(); end != End::none) {
    next.end(end, now);
  } else {
    slots_[slot].in.move_all(next, now);
  }
  slots_.erase(slots_.begin() + static_cast<std::ptrdiff_t>(slot));
}

void Link::advance() {
  bool moved = true;
  for (int round = 0; moved && round < kRoundsMax && !connection_.closed(); ++round) {
    const TimePoint now = slots_.empty() ? TimePoint() : Clock::now();
    moved = receive(now);
    pass(now);
    moved = deliver() || moved;
  }
  if (connection_.closed()) return;
  if (moved) {
    asio::post(connection_.worker().loop,
               [self = connection_.shared_from_this(), this] { advance(); });
  } else {
    arm();
  }
}

void Link::source_lost() {
  source_lost_ = true;
  advance();
}

void Link::lose_destination() {
  if (destination_lost_) return;
  destination_failed();
  advance();
}

// The other link hears of it in an event of its own, since this one is in the middle of something.
void Link::destination_failed() {
  destination_lost_ = true;
  asio::post(connection_.worker().loop, [self = connection_.shared_from_this(), this] {
    if (!connection_.closed()) connection_.destination_lost(direction_);
  });
}

void Link::cancel() {
  if (timer_) timer_->cancel();
}

bool Link::receive(TimePoint now) {
  if (!wants_to_read()) return false;
  if (bulk_ && slots_.empty() && out_.empty() && !destination_lost_) return receive_bulk(now);
  auto& scratch = connection_.worker().scratch;
  const std::size_t most =
      slots_.empty() ? scratch.size() : std::min(scratch.size(), input().room());
  ErrorCode error;
  const std::size_t count = source_.read_some(asio::buffer(scratch.data(), most), error);
  if (error == asio::error::would_block) return false;
  if (error) {
    source_ended(error != asio::error::eof, now);
    return true;
  }
  bulk_ = count >= kBulkBytes;
  take_in({scratch.data(), count}, now);
  return count == most || !slots_.empty();
}

// Without toxics, much data goes through the kernel alone.
bool Link::receive_bulk(TimePoint now) {
  pipe_ = connection_.worker().pipes.borrow();
  bulk_ = pipe_ != nullptr;
  if (!bulk_) return true;  // the other way, then
  const auto count = pipe_->fill(source_.native_handle());
  if (count > 0) {
    counters(connection_, direction_).received_bytes += static_cast<std::size_t>(count);
    bulk_ = static_cast<std::size_t>(count) >= kBulkBytes;
    drain_pipe();
    return bulk_;
  }
  const bool nothing_yet = count < 0 && (errno == EAGAIN || errno == EINTR);
  if (!nothing_yet) source_ended(count < 0, now);
  connection_.worker().pipes.give_back(std::move(pipe_));
  return !nothing_yet;
}

void Link::drain_pipe() {
  while (pipe_ != nullptr) {
    const auto count = pipe_->drain(destination_.native_handle());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count > 0) {
      counters(connection_, direction_).delivered_bytes += static_cast<std::size_t>(count);
      if (pipe_->bytes() > 0) continue;
    }
    connection_.worker().pipes.give_back(std::move(pipe_));
    if (count <= 0) destination_failed();
  }
}

void Link::source_ended(bool reset, TimePoint now) {
  source_ended_ = true;
  input().end(reset || source_lost_ ? End::reset : End::finish, now);
}

void Link::take_in(std::string_view bytes, TimePoint now) {
  counters(connection_, direction_).received_bytes += bytes.size();
  // Without toxics, and with a destination that keeps up, bytes are never copied.
  if (slots_.empty() && out_.empty()) bytes.remove_prefix(send(bytes));
  input().push(std::string(bytes), now);
}

void Link::pass(TimePoint now) {
  wake_ = kNever;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    ChunkQueue& out = after(i);
    if (out.ended() != End::none) continue;
    Slot& slot = slots_[i];
    const EffectCounters::Before before(slot.in, out);
    wake_ = std::min(wake_, slot.stage->step(slot.in, out, now));
    slot.effect->count(before, slot.in, out, now);
    if (slot.end_held || !slot.in.exhausted() || out.ended() != End::none) continue;
    slot.end_held = true;
    slot.effect->count_late_end();
  }
}

bool Link::deliver() {
  const bool piped = pipe_ != nullptr;
  drain_pipe();
  if (pipe_ != nullptr || connection_.closed()) return false;
  bool moved = piped;
  while (!out_.empty() && !connection_.closed()) {
    const std::size_t sent = send(out_.front());
    if (sent == 0) break;
    out_.drop(sent);
    moved = true;
  }
  if (out_.exhausted()) deliver_end();
  return moved;
}

// How many bytes need no longer be kept: sent, or undeliverable.
std::size_t Link::send(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size() && !destination_lost_) {
    ErrorCode error;
    sent += destination_.write_some(asio::buffer(bytes.data() + sent, bytes.size() - sent), error);
    if (error == asio::error::would_block) break;
    if (error) destination_failed();
  }
  counters(connection_, direction_).delivered_bytes += sent;
  return destination_lost_ ? bytes.size() : sent;
}

void Link::deliver_end() {
  if (out_.ended() <= delivered_end_) return;
  delivered_end_ = out_.ended();
  if (delivered_end_ != End::finish) return connection_.close(delivered_end_ == End::reset);
  ErrorCode ignored;
  destination_.shutdown(tcp::socket::shutdown_send, ignored);
  connection_.link_finished();
}

void Link::arm() {
  if (!reading_ && wants_to_read()) {
    reading_ = true;
    source_.async_wait(tcp::socket::wait_read,
                       [self = connection_.shared_from_this(), this](ErrorCode) {
                         reading_ = false;
                         advance();
                       });
  }
  if (!writing_ && undelivered()) {
    writing_ = true;
    destination_.async_wait(tcp::socket::wait_write,
                            [self = connection_.shared_from_this(), this](ErrorCode) {
                              writing_ = false;
                              advance();
                            });
  }
  if (source_ended_ && !watching_) watch_source();
  arm_timer();
}

// Nothing is read from a source that sent FIN, so a reset that follows would stay unnoticed.
void Link::watch_source() {
  watching_ = true;
  source_.async_wait(tcp::socket::wait_error,
                     [self = connection_.shared_from_this(), this](ErrorCode error) {
                       if (!error) connection_.source_gone(direction_);
                     });
}

void Link::arm_timer() {
  if (wake_ >= timer_at_) return;
  timer_at_ = wake_;
  if (!timer_) timer_ = std::make_unique<Timer>(connection_.worker().loop);
  timer_->expires_at(wake_);
  timer_->async_wait([self = connection_.shared_from_this(), this](ErrorCode error) {
    if (error == asio::error::operation_aborted) return;
    timer_at_ = kNever;
    advance();
  });
}

}  // namespace ordeal::proxy
