#include "history/edn_chunks.h"

#include <algorithm>
#include <thread>

#include "history/edn_parser.h"

namespace ordeal {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20U;
// An operation that goes on past its chunk may be this long, or is parsed again.
constexpr std::size_t kOverhangBytes = std::size_t{1} << 20U;

}  // namespace

EdnChunks::EdnChunks(std::string_view bytes, std::size_t begin, char close)
    : bytes_(bytes), ahead_at_(begin), close_(close) {}

// The start of a line at or behind `at` that looks like the start of an operation.
std::size_t EdnChunks::boundary(std::size_t at) const {
  while (at < bytes_.size()) {
    const std::size_t line = bytes_.find('\n', at);
    if (line == std::string_view::npos) break;
    at = std::min(bytes_.find_first_not_of(" \r\n\t,", line), bytes_.size());
    if (at < bytes_.size() && (bytes_[at] == '{' || bytes_[at] == '#')) return at;
  }
  return bytes_.size();
}

void EdnChunks::look_ahead() {
  if (ahead_.empty() && bytes_.size() - ahead_at_ <= kChunkBytes) return;  // not worth a thread
  const std::size_t most = std::max(2U, std::thread::hardware_concurrency());
  while (ahead_.size() < most && ahead_at_ < bytes_.size()) {
    const std::size_t begin = ahead_at_;
    ahead_at_ = boundary(std::min(begin + kChunkBytes, bytes_.size()));
    const std::size_t text_end = std::min(ahead_at_ + kOverhangBytes, bytes_.size());
    ahead_.push_back(std::async(std::launch::async, [this, begin, limit = ahead_at_, text_end] {
      return parse(begin, limit, text_end);
    }));
  }
}

EdnChunk EdnChunks::next(std::size_t at) {
  std::size_t limit = bytes_.size();
  for (look_ahead(); !ahead_.empty(); look_ahead()) {
    EdnChunk chunk = ahead_.front().get();
    ahead_.pop_front();
    if (chunk.limit <= at) continue;
    look_ahead();
    if (chunk.begin == at && !chunk.starved) return chunk;
    limit = chunk.limit;
    break;
  }
  return parse(at, limit, bytes_.size());
}

void EdnChunks::reuse(ParsedOperations parsed) {
  const std::lock_guard lock(mutex_);
  spares_.push_back(std::move(parsed));
}

ParsedOperations EdnChunks::spare() {
  const std::lock_guard lock(mutex_);
  if (spares_.empty()) return {};
  ParsedOperations last = std::move(spares_.back());
  spares_.pop_back();
  return last;
}

EdnChunk EdnChunks::parse(std::size_t begin, std::size_t limit, std::size_t text_end) {
  EdnScanner scanner(bytes_.substr(0, text_end), begin);
  EdnParser parser(spare());
  EdnChunk chunk;
  scanner.peek();
  chunk.begin = scanner.at();
  chunk.limit = limit;
  const auto more = [&] {
    const char next = scanner.peek();
    return next != '\0' && next != close_ && scanner.at() < limit;
  };
  while (more()) {
    chunk.operation = scanner.at();
    if (!parser.read(scanner)) break;
  }
  chunk.end = scanner.at();
  chunk.failed = scanner.failed();
  chunk.truncated = scanner.truncated();
  chunk.failed_at = scanner.at();
  chunk.expected = scanner.expected();
  chunk.starved = scanner.at_end() && text_end < bytes_.size();
  chunk.parsed = std::move(parser).take();
  return chunk;
}

}  // namespace ordeal
