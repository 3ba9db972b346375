#include "orchestrator/matrix.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "orchestrator/store.h"

namespace ordeal {
namespace {

struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "matrix-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Result<Matrix> load(const std::string& text) const {
    REQUIRE(write_file(path / "levels.matrix.yaml", text));
    return load_matrix(path / "levels.matrix.yaml");
  }
  std::filesystem::path path;
};

constexpr const char* kLevels = R"(
campaign: quick.yaml
set: {duration: 20s}
over:
  workload.list-append.isolation: [serializable, repeatable-read]
  faults: {none: {}, kills: {kill: {}}}
  seed: [1, 2, 3]
)";

TEST_CASE("a matrix is every combination, the last key varying fastest") {
  const Folder folder;
  const Matrix matrix = folder.load(kLevels).value();
  CHECK(matrix.name == "levels");
  CHECK(matrix.campaign == folder.path / "quick.yaml");
  REQUIRE(matrix.runs.size() == 12);
  CHECK(matrix.runs[4].labels == std::vector<std::string>{"serializable", "kills", "2"});
  CHECK(matrix.runs[4].arguments ==
        std::vector<std::string>{"--set", "duration=20s", "--set",
                                 "workload.list-append.isolation=serializable", "--set",
                                 "faults={kill: {}}", "--seed", "2"});
}

TEST_CASE("each run is in one shard") {
  const Folder folder;
  const Matrix matrix = folder.load(kLevels).value();
  for (const MatrixRun& run : matrix.runs) {
    int shards = 0;
    for (const char* text : {"1/5", "2/5", "3/5", "4/5", "5/5"}) {
      shards += parse_shard(text).value().has(run) ? 1 : 0;
    }
    CHECK(shards == 1);
  }
  for (const char* wrong : {"", "3", "0/3", "4/3", "-1/3", "1/0", "a/b", "1/3/4"}) {
    CAPTURE(wrong);
    CHECK(parse_shard(wrong).error().kind == ErrorKind::bad_input);
  }
}

TEST_CASE("a result counts as long as the run is the same") {
  const Folder folder;
  const Matrix matrix = folder.load(kLevels).value();
  const MatrixResult result = result_of(matrix.runs[2], 1, R"({"valid": false,
      "file": "store/quick/1/history.ohist", "anomaly_types": ["G2-item", "G-single"]})");
  CHECK(result.verdict == "invalid");
  CHECK(result.summary == "G2-item, G-single");
  CHECK(result.folder == "store/quick/1");
  REQUIRE(write_result(folder.path, matrix, matrix.runs[2], result));
  CHECK(read_result(folder.path, matrix, matrix.runs[2]).value()->summary == result.summary);
  CHECK_FALSE(read_result(folder.path, matrix, matrix.runs[3]).value());

  const Matrix longer =
      folder.load(std::string(kLevels).replace(std::string(kLevels).find("20s"), 3, "40s")).value();
  CHECK_FALSE(read_result(folder.path, longer, longer.runs[2]).value());
  REQUIRE(write_file(folder.path / "matrix" / "levels" / "0003.json", "torn"));
  CHECK(read_result(folder.path, matrix, matrix.runs[2]).error().kind == ErrorKind::bad_input);
}

TEST_CASE("the worst run decides the exit code") {
  const Folder folder;
  const Matrix matrix = folder.load("{campaign: a, over: {seed: [1, 2, 3, 4]}}").value();
  MatrixResults results;
  const auto set = [&](std::size_t number, int code) {
    results[number] = result_of(matrix.runs[number - 1], code, "");
  };
  for (std::size_t number : {1, 2, 3, 4}) set(number, 0);
  CHECK(worst_exit_code(matrix, {}, results) == 0);
  set(2, 2);
  CHECK(worst_exit_code(matrix, {}, results) == 2);
  set(3, 3);
  CHECK(worst_exit_code(matrix, {}, results) == 3);
  set(4, 1);
  CHECK(worst_exit_code(matrix, {}, results) == 1);
  CHECK(worst_exit_code(matrix, {1, 2}, results) == 3);
  results.erase(1);
  results.erase(3);
  CHECK(worst_exit_code(matrix, {1, 2}, results) == 2);  // not run is no success
}

TEST_CASE("the table has a line for each run") {
  const Folder folder;
  const Matrix matrix =
      folder.load("{campaign: a, over: {faults: {'a|b': {}}, seed: [1, 2]}}").value();
  const MatrixResults results{{1, result_of(matrix.runs[0], 3, R"({"error": "no host"})")}};
  CHECK(matrix_table(matrix, results) ==
        "| run | faults | seed | verdict | found | folder |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| 1 | a\\|b | 1 | failed | no host |  |\n"
        "| 2 | a\\|b | 2 | not run |  |  |\n");
}

TEST_CASE("what is wrong with a matrix is said with its place") {
  const Folder folder;
  const auto message = [&](const std::string& text) { return folder.load(text).error().message; };
  const std::string file = (folder.path / "levels.matrix.yaml").string();
  CHECK(message("over: {seed: [1]}") == file + ": expected `campaign: FILE`, the campaign to run");
  CHECK(message("campaign: a\novr: {seed: [1]}") ==
        file + ":2:1: unknown key \"ovr\"; did you mean \"over\"?");
  CHECK(message("campaign: a\nover:\n  seed: 3") ==
        file + ":3:3: seed: expected a list of values, or a map that names them");
  CHECK(message("campaign: a\nover:\n  seed: [1, 1]") == file + ":3:3: seed: 1 is given twice");
  std::string many = "campaign: a\nover:\n";
  for (char key = 'a'; key < 'i'; ++key) many += fmt::format("  {}: [0, 1, 2, 3]\n", key);
  CHECK(message(many).find("65536 runs are more than 10000") != std::string::npos);
}

}  // namespace
}  // namespace ordeal
