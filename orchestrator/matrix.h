// A matrix of runs: one campaign over all combinations of values of its keys, in a fixed order, so
// that shards of it can run anywhere. Each run's result is a file of its own: a matrix that was
// broken off goes on where it stopped, and the results of shards lie in one folder without
// conflict.
//
//   campaign: quickstart.yaml            # beside this file, or absolute
//   set: {duration: 20s}                 # of each run
//   over:
//     workload.list-append.isolation: [serializable, repeatable-read]
//     faults: {none: {}, kills: {kill: {}}}    # a map names its values
//     seed: [1, 2, 3]
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace ordeal {

struct MatrixRun {
  std::size_t number = 0;           // 1, 2, ... in the whole matrix
  std::vector<std::string> labels;  // of its values, in the order of Matrix::keys
  // Of `ordeal run`: `--set key=value`, `--seed N`, `--scenario NAME`, ... They are what makes the
  // run: a result counts for it as long as they are the same.
  std::vector<std::string> arguments;
};

struct Matrix {
  std::string name;  // of the file, up to its first dot
  std::filesystem::path campaign;
  std::vector<std::string> keys;
  std::vector<MatrixRun> runs;  // the last key varies fastest
};

// bad_input names file, line and column.
Result<Matrix> load_matrix(const std::filesystem::path& file);

// "3/8": the runs 3, 11, 19, ...
struct Shard {
  std::size_t number = 1;
  std::size_t of = 1;
  bool has(const MatrixRun& run) const { return (run.number - 1) % of == number - 1; }
};
Result<Shard> parse_shard(std::string_view text);

// What is kept of a run.
struct MatrixResult {
  std::vector<std::string> arguments;
  int exit_code = 0;    // of `ordeal run`
  std::string verdict;  // "valid", "invalid", "unknown", or "failed": nothing was judged
  std::string summary;  // the anomalies, else the reason
  std::string folder;   // of the run; "" where there is none
};

// Of the JSON that `ordeal run --json` printed.
MatrixResult result_of(const MatrixRun& run, int exit_code, std::string_view json);

// STORE/matrix/NAME/NUMBER.json. Nothing where the run has not been done, or was done with other
// arguments; a file that cannot be read is bad_input.
Result<std::optional<MatrixResult>> read_result(const std::filesystem::path& store,
                                                const Matrix& matrix, const MatrixRun& run);
Status write_result(const std::filesystem::path& store, const Matrix& matrix, const MatrixRun& run,
                    const MatrixResult& result);

// By number of run.
using MatrixResults = std::map<std::size_t, MatrixResult>;
// One line a run, those without a result included; Markdown, so that it can be shown by a CI.
std::string matrix_table(const Matrix& matrix, const MatrixResults& results);
// The worst: an invalid run, else one that failed, else an unknown one or one without a result.
int worst_exit_code(const Matrix& matrix, const Shard& shard, const MatrixResults& results);

}  // namespace ordeal
