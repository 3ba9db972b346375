#include "cli/pictures.h"

#include <fmt/format.h>

#include <map>
#include <string>

#include "orchestrator/store.h"
#include "report/cycle_dot.h"
#include "report/graphviz.h"

namespace ordeal {

Status write_pictures(const CheckResult& result, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    return surroundings_error("{}: cannot be made: {}", directory.string(), error.message());
  }
  std::map<std::string, int> numbers;
  for (const Anomaly& anomaly : result.anomalies) {
    const std::string dot = cycle_dot(anomaly, transaction_names(anomaly));
    if (dot.empty()) continue;
    const std::string name = fmt::format("{}-{}", anomaly.type, ++numbers[anomaly.type]);
    ORDEAL_TRY(write_file(directory / (name + ".dot"), dot));
    ORDEAL_TRY(write_file(directory / (name + ".svg"), svg_of_dot(dot)));
  }
  return {};
}

}  // namespace ordeal
