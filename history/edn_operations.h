// Adds operations that are written as EDN maps, as Jepsen prints them, to a history. Recognises the
// payloads of history/operation.h by their shape; any other value is kept as Opaque, but a vector
// with :f :txn, which must be a transaction. Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/edn.h"
#include "history/history.h"

namespace ordeal {

class EdnOperations {
 public:
  // Reads one operation and adds it. False where the scanner failed; then nothing was added.
  bool read(EdnScanner& scanner);
  std::size_t size() const { return builder_.so_far().size(); }
  History build() { return std::move(builder_).build(); }

 private:
  struct Fields;  // of the operation at hand
  struct MicroForm {
    MicroFunction function = MicroFunction::read;
    bool has_list = false;
    Value key;
    Value value;
    std::size_t list_begin = 0;  // in elements_
    std::size_t list_end = 0;
  };

  bool field(EdnScanner& scanner, Fields& fields);
  bool process(EdnScanner& scanner, Fields& fields);
  bool phase(EdnScanner& scanner, Fields& fields);
  bool function(EdnScanner& scanner, Fields& fields);
  bool note(EdnScanner& scanner, Fields& fields);
  bool value(EdnScanner& scanner, Fields& fields);
  bool txn(EdnScanner& scanner);
  bool micro_op(EdnScanner& scanner);
  bool list(EdnScanner& scanner, MicroForm& form);
  bool add(EdnScanner& scanner, const Fields& fields);
  void add_micro_ops();

  HistoryBuilder builder_;
  std::vector<MicroForm> micro_forms_;
  std::vector<Value> elements_;
  std::size_t micro_begin_ = 0;  // of the micro-operation that was read last
  std::string text_;  // scratch
};

}  // namespace ordeal
