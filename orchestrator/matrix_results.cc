// Results of the runs of a matrix on disk.
#include <fstream>
#include <nlohmann/json.hpp>

#include "orchestrator/matrix.h"
#include "orchestrator/store.h"

namespace ordeal {
namespace {

using nlohmann::json;

std::filesystem::path result_file(const std::filesystem::path& store, const Matrix& matrix,
                                  const MatrixRun& run) {
  return store / "matrix" / matrix.name / fmt::format("{:04}.json", run.number);
}

std::string verdict_word(int exit_code) {
  if (exit_code == 0) return "valid";
  if (exit_code == 1) return "invalid";
  return exit_code == 2 ? "unknown" : "failed";
}

std::string text_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string summary_of(const json& verdict) {
  std::string summary;
  for (const auto& type : verdict.value("anomaly_types", json::array())) {
    summary += (summary.empty() ? "" : ", ") + type.get<std::string>();
  }
  if (summary.empty()) summary = text_of(verdict, "reason");
  return summary.empty() ? text_of(verdict, "error") : summary;
}

}  // namespace

MatrixResult result_of(const MatrixRun& run, int exit_code, std::string_view text) {
  MatrixResult result{run.arguments, exit_code, verdict_word(exit_code), "", ""};
  const json verdict = json::parse(text, nullptr, false);
  if (!verdict.is_object()) return result;
  result.summary = summary_of(verdict);
  const std::string history = text_of(verdict, "file");
  if (!history.empty()) result.folder = std::filesystem::path(history).parent_path().string();
  return result;
}

Result<std::optional<MatrixResult>> read_result(const std::filesystem::path& store,
                                                const Matrix& matrix, const MatrixRun& run) {
  const std::filesystem::path file = result_file(store, matrix, run);
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  const json saved = json::parse(stream, nullptr, false);
  if (!saved.is_object() || !saved.contains("arguments") || !saved.contains("exit_code")) {
    return bad_input("{}: expected the result of a run of a matrix; remove it to run it again",
                     file.string());
  }
  MatrixResult result;
  result.arguments = saved["arguments"].get<std::vector<std::string>>();
  if (result.arguments != run.arguments) return std::nullopt;
  result.exit_code = saved["exit_code"].get<int>();
  result.verdict = verdict_word(result.exit_code);
  result.summary = text_of(saved, "summary");
  result.folder = text_of(saved, "folder");
  return result;
}

Status write_result(const std::filesystem::path& store, const Matrix& matrix, const MatrixRun& run,
                    const MatrixResult& result) {
  const std::filesystem::path file = result_file(store, matrix, run);
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) {
    return surroundings_error("cannot make {}: {}", file.parent_path().string(), error.message());
  }
  json values = json::object();
  for (std::size_t i = 0; i < matrix.keys.size(); ++i) values[matrix.keys[i]] = run.labels[i];
  const json saved{{"run", run.number},          {"values", values},
                   {"arguments", run.arguments}, {"exit_code", result.exit_code},
                   {"verdict", result.verdict},  {"summary", result.summary},
                   {"folder", result.folder}};
  return write_file(file, saved.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

}  // namespace ordeal
