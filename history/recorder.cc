#include "history/recorder.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "history/block_file.h"

namespace ordeal {
namespace {

using Batch = std::vector<Operation>;
constexpr std::size_t kSpares = 4;

}  // namespace

class Recorder::Impl {
 public:
  Impl(std::unique_ptr<BlockFile> file, RecorderOptions options)
      : file_(std::move(file)), options_(options), start_(std::chrono::steady_clock::now()) {
    current_.reserve(options_.block_operations);
    spares_.resize(kSpares);
    for (auto& spare : spares_) spare.reserve(options_.block_operations);
    writer_ = std::jthread([this] { write_until_closed(); });
  }

  ~Impl() { (void)close(); }

  std::uint64_t record(ProcessId process, Phase phase, std::string&& function, Payload&& payload,
                       std::string&& note) {
    count(process, phase);
    std::unique_lock lock(mutex_);
    if (queued_ >= options_.pending_operations_max) wait_for_room(lock);
    const std::uint64_t index = next_index_++;
    if (failed_ || closing_) return index;
    current_.push_back(Operation{index, now(), process, phase, std::move(function),
                                 std::move(payload), std::move(note)});
    if (current_.size() >= options_.block_operations) hand_over();
    return index;
  }

  std::chrono::nanoseconds now() const { return std::chrono::steady_clock::now() - start_; }

  RecorderCounts counts() const {
    RecorderCounts counts;
    for (std::size_t i = 0; i < counts.phases.size(); ++i) counts.phases[i] = phases_[i];
    counts.nemesis = nemesis_;
    return counts;
  }

  Status status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }

  Status close() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    work_.notify_all();
    if (writer_.joinable()) writer_.join();
    return status();
  }

 private:
  void count(ProcessId process, Phase phase) {
    auto& counter = process == kNemesis ? nemesis_ : phases_[static_cast<std::size_t>(phase)];
    counter.fetch_add(1, std::memory_order_relaxed);
  }

  // Ends when the writer has caught up or failed, both of which it does without our help.
  void wait_for_room(std::unique_lock<std::mutex>& lock) {
    room_.wait(lock, [this] { return failed_ || queued_ < options_.pending_operations_max; });
  }

  // Under the lock. A spare buffer makes this two swaps, with no allocation inside the lock.
  void hand_over() {
    queued_ += current_.size();
    full_.push_back(std::move(current_));
    current_ = Batch();
    if (!spares_.empty()) {
      current_ = std::move(spares_.back());
      spares_.pop_back();
    }
    work_.notify_one();
  }

  // Syncs when the interval is over, not after each block; a sync also takes in the block not yet
  // full.
  void write_until_closed() {
    auto next_sync = std::chrono::steady_clock::now() + options_.sync_interval;
    for (bool closing = false; !closing;) {
      std::deque<Batch> batches;
      bool due = false;
      {
        std::unique_lock lock(mutex_);
        work_.wait_until(lock, next_sync, [this] { return closing_ || !full_.empty(); });
        closing = closing_;
        due = closing || std::chrono::steady_clock::now() >= next_sync;
        if (due && !current_.empty()) hand_over();
        batches.swap(full_);
      }
      for (auto& batch : batches) write(std::move(batch));
      if (!due) continue;
      if (std::exchange(dirty_, false) && !failed_) note_error(file_->sync());
      next_sync = std::chrono::steady_clock::now() + options_.sync_interval;
    }
    note_error(file_->close());
  }

  void write(Batch batch) {
    if (!failed_) note_error(file_->append(batch));
    dirty_ = true;
    const std::size_t written = batch.size();
    batch.clear();
    const std::lock_guard lock(mutex_);
    queued_ -= written;
    if (spares_.size() < kSpares) spares_.push_back(std::move(batch));
    room_.notify_all();
  }

  void note_error(Status status) {
    if (status) return;
    const std::lock_guard lock(mutex_);
    if (failed_) return;
    status_ = std::move(status);
    failed_ = true;
    current_.clear();
    room_.notify_all();
  }

  std::unique_ptr<BlockFile> file_;  // used by the writer alone
  const RecorderOptions options_;
  const std::chrono::steady_clock::time_point start_;
  std::array<std::atomic<std::uint64_t>, 4> phases_{};
  std::atomic<std::uint64_t> nemesis_{0};
  bool dirty_ = false;  // used by the writer alone

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable work_;
  std::condition_variable room_;
  std::uint64_t next_index_ = 0;
  Batch current_;
  std::deque<Batch> full_;
  std::vector<Batch> spares_;
  std::size_t queued_ = 0;  // operations in full_ or being written
  bool closing_ = false;
  std::atomic<bool> failed_{false};  // written under the lock
  Status status_;

  std::jthread writer_;
};

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::create(const std::filesystem::path& path,
                                                   const HistoryHeader& header,
                                                   RecorderOptions options) {
  HistoryHeader complete = header;
  if (complete.start_time == std::chrono::system_clock::time_point()) {
    complete.start_time = std::chrono::system_clock::now();
  }
  ORDEAL_TRY_ASSIGN(auto file, BlockFile::create(path, complete));
  return std::unique_ptr<Recorder>(new Recorder(std::make_unique<Impl>(std::move(file), options)));
}

std::uint64_t Recorder::record(ProcessId process, Phase phase, std::string function,
                               Payload payload, std::string note) {
  return impl_->record(process, phase, std::move(function), std::move(payload), std::move(note));
}

std::chrono::nanoseconds Recorder::now() const { return impl_->now(); }
RecorderCounts Recorder::counts() const { return impl_->counts(); }
Status Recorder::status() const { return impl_->status(); }
Status Recorder::close() { return impl_->close(); }

}  // namespace ordeal
