// Reads operations that are written as EDN maps, as Jepsen prints them. Not thread-safe.
#pragma once

#include <utility>

#include "history/edn.h"
#include "history/edn_lists.h"
#include "history/parsed_operations.h"

namespace ordeal {

class EdnParser {
 public:
  EdnParser() = default;
  // Reuses the memory of `spare`, which is emptied.
  explicit EdnParser(ParsedOperations spare) : parsed_(std::move(spare)) { parsed_.clear(); }

  // Reads one operation and appends it to parsed(). False where the scanner failed; then parsed()
  // may hold more than its operations use.
  bool read(EdnScanner& scanner);

  const ParsedOperations& parsed() const { return parsed_; }
  ParsedOperations take() && { return std::move(parsed_); }
  void clear();

 private:
  enum Field : unsigned {  // bits of seen_
    kOther = 0,
    kIndex = 1,
    kTime = 2,
    kPhase = 4,
    kProcess = 8,
    kFunction = 16,
    kValue = 32,
    kNote = 64
  };

  static Field field_of(std::string_view key);
  bool field(EdnScanner& scanner, ParsedOperation& operation);
  bool index(EdnScanner& scanner, ParsedOperation& operation);
  bool process(EdnScanner& scanner, ParsedOperation& operation);
  bool phase(EdnScanner& scanner, ParsedOperation& operation);
  bool word(EdnScanner& scanner, std::string_view& out);
  bool note(EdnScanner& scanner, ParsedOperation& operation);
  bool value(EdnScanner& scanner, ParsedOperation& operation);
  bool txn(EdnScanner& scanner);
  bool micro_op(EdnScanner& scanner);

  ParsedOperations parsed_;
  EdnLists lists_;
  unsigned seen_ = 0;         // fields of the operation at hand
  std::size_t micro_at_ = 0;  // where the micro-operation begins that was read last
};

}  // namespace ordeal
