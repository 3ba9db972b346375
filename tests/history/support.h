// What the tests of history/ share.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "history/history.h"
#include "history/reader.h"

namespace ordeal {

// A directory of its own under the system's, removed at the end.
class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "ordeal-history-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TempDir() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void spit(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline ReadHistory read_ok(const std::filesystem::path& path, std::string_view format = "auto") {
  auto read = read_history(path, format);
  INFO((read ? "" : read.error().message));
  REQUIRE(read.has_value());
  return *std::move(read);
}

inline std::string read_error(const std::filesystem::path& path, std::string_view format = "auto") {
  const auto read = read_history(path, format);
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().message;
}

inline std::vector<Operation> operations_of(const History& history) {
  std::vector<Operation> operations;
  for (Position at = 0; at < history.size(); ++at) operations.push_back(history.operation(at));
  return operations;
}

inline History history_of(const std::vector<Operation>& operations) {
  HistoryBuilder builder;
  for (const auto& operation : operations) builder.add(operation);
  return std::move(builder).build();
}

// Operations with every kind of payload, value, phase and read; some completions equal their
// invocations, some don't; some lists grow, some fork. Valid as a file, not as a history of
// anything. With `mismatches`, some completions do other things than their invocations.
std::vector<Operation> random_operations(Random random, std::size_t count, bool mismatches = false);

}  // namespace ordeal
