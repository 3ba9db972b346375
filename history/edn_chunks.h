// Reads the operations of a long EDN text on several threads: parts that begin at the start of a
// line are parsed ahead, in the hope that an operation begins there. A part counts only where the
// one before it turns out to end exactly there; else it is parsed again, from the right place.
#pragma once

#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "history/parsed_operations.h"

namespace ordeal {

struct EdnChunk {
  ParsedOperations parsed;
  std::size_t begin = 0;      // of its first operation
  std::size_t end = 0;        // behind its last one and the blanks that follow
  std::size_t limit = 0;      // operations that begin here or later were left to others
  bool starved = false;       // more text than it was given might have changed it
  bool failed = false;        // the operation after those in `parsed` is malformed,
  bool truncated = false;     // or only half there
  std::size_t failed_at = 0;  // what was found there is not
  std::string_view expected;  // this
  std::size_t operation = 0;  // where the operation that failed begins
};

class EdnChunks {
 public:
  // `close` is the bracket that ends the operations, or '\0'.
  EdnChunks(std::string_view bytes, std::size_t begin, char close);

  // The operations from `at` on, where the last chunk ended: at least one, unless none is left or
  // the next one is malformed.
  EdnChunk next(std::size_t at);
  void reuse(ParsedOperations parsed);  // the memory of what was added to the history

 private:
  EdnChunk parse(std::size_t begin, std::size_t limit, std::size_t text_end);
  ParsedOperations spare();
  void look_ahead();
  std::size_t boundary(std::size_t at) const;

  std::string_view bytes_;
  std::size_t ahead_at_;  // where the next part begins that nobody parses yet
  char close_;
  std::mutex mutex_;                      // of spares_
  std::vector<ParsedOperations> spares_;  // new memory costs as much as parsing
  std::deque<std::future<EdnChunk>> ahead_;
};

}  // namespace ordeal
