// Reads the lists that reads of list-append transactions return. Nearly every one is a prefix of
// the next one of its key, and they are most of a history's bytes: so the text of the longest list
// of each key is kept, and what a new list has in common with it is not scanned again.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "history/edn.h"
#include "history/parsed_operations.h"

namespace ordeal {

class EdnLists {
 public:
  // The scanner stands before the list's bracket. Appends to `out.elements` where they are not
  // there already, and says in `micro_op` where they are.
  bool read(EdnScanner& scanner, ParsedMicroOp& micro_op, ParsedOperations& out);
  void forget_places() { ++generation_; }  // out.elements was emptied

 private:
  struct Known {
    std::string text;                 // what follows the opening bracket, up to the last element
    std::vector<std::uint32_t> ends;  // of the elements in text
    std::vector<Value> elements;
    std::size_t place = 0;  // of the first `placed` elements in out.elements
    std::size_t placed = 0;
    std::size_t generation = 0;  // of `place`
  };

  static std::size_t known_elements(const Known& known, std::string_view rest);
  Known& known_of(Value key);
  void use_known(Known& known, std::size_t count, ParsedMicroOp& micro_op, ParsedOperations& out);
  bool read_rest(EdnScanner& scanner, char close, std::size_t begin, std::size_t count,
                 ParsedMicroOp& micro_op, ParsedOperations& out);
  void learn(EdnScanner& scanner, std::size_t begin, const ParsedMicroOp& micro_op,
             const ParsedOperations& out);

  std::unordered_map<Value, Known> known_;
  std::size_t text_bytes_ = 0;  // of all keys
  std::size_t generation_ = 0;
  std::vector<std::size_t> ends_;  // scratch
};

}  // namespace ordeal
