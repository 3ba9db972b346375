#include "orchestrator/matrix.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <set>

#include "base/names.h"
#include "orchestrator/campaign_yaml.h"

namespace ordeal {
namespace {

constexpr std::size_t kRunsMax = 10'000;
// These have an option of their own; the others are keys of the campaign.
constexpr std::string_view kOptions[] = {"seed", "scenario", "complexity", "schedule"};

struct Choice {
  std::string label;
  std::vector<std::string> arguments;
};
struct Axis {
  std::string key;
  std::vector<Choice> choices;
};

std::string flow(const YAML::Node& node) {
  YAML::Emitter emitter;
  emitter << YAML::Flow << node;
  return emitter.c_str();
}

std::vector<std::string> arguments_of(const std::string& key, const YAML::Node& value) {
  const std::string text = value.IsScalar() ? value.Scalar() : flow(value);
  if (std::find(std::begin(kOptions), std::end(kOptions), key) != std::end(kOptions)) {
    return {"--" + key, text};
  }
  return {"--set", key + "=" + flow(value)};
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : file_(file), origin_(file) {}

  Result<Matrix> read() {
    ORDEAL_TRY_ASSIGN(
        const YAML::Node root,
        parse_yaml(file_, {"a matrix file (see docs/scaling-out.md)", "campaign and over"}));
    ORDEAL_TRY(check_keys(root));
    const std::string file_name = file_.filename().string();
    matrix_.name = file_name.substr(0, file_name.find('.'));
    matrix_.campaign = file_.parent_path() / root["campaign"].Scalar();
    ORDEAL_TRY(read_common(root["set"]));
    ORDEAL_TRY(read_axes(root["over"]));
    return expand();
  }

 private:
  Status check_keys(const YAML::Node& root) const {
    static constexpr std::string_view kKnown[] = {"campaign", "set", "over"};
    for (const auto& item : root) {
      const std::string& key = item.first.Scalar();
      if (std::find(std::begin(kKnown), std::end(kKnown), key) == std::end(kKnown)) {
        return bad_input("{}: {}", origin_.of("", item.first), unknown_name("key", key, kKnown));
      }
    }
    if (!root["campaign"] || !root["campaign"].IsScalar()) {
      return bad_input("{}: expected `campaign: FILE`, the campaign to run", file_.string());
    }
    if (!root["over"] || !root["over"].IsMap() || root["over"].size() == 0) {
      return bad_input("{}: expected `over:`, a map from keys of the campaign to lists of values",
                       file_.string());
    }
    return {};
  }

  Status read_common(const YAML::Node& set) {
    if (!set) return {};
    if (!set.IsMap()) {
      return bad_input("{}: set: expected a map, e.g. {{duration: 20s}}", origin_.of("set", set));
    }
    for (const auto& item : set) {
      const auto arguments = arguments_of(item.first.Scalar(), item.second);
      common_.insert(common_.end(), arguments.begin(), arguments.end());
    }
    return {};
  }

  Status read_axes(const YAML::Node& over) {
    for (const auto& item : over) {
      Axis axis{item.first.Scalar(), {}};
      const YAML::Node& values = item.second;
      for (const auto& value : values) {
        const bool named = values.IsMap();
        const YAML::Node node = named ? value.second : YAML::Node(value);
        axis.choices.push_back(
            {named ? value.first.Scalar() : flow(node), arguments_of(axis.key, node)});
      }
      if (axis.choices.empty()) {
        return bad_input("{}: {}: expected a list of values, or a map that names them",
                         origin_.of("over", item.first), axis.key);
      }
      ORDEAL_TRY(check_labels(axis, item.first));
      matrix_.keys.push_back(axis.key);
      axes_.push_back(std::move(axis));
    }
    return {};
  }

  Status check_labels(const Axis& axis, const YAML::Node& key) const {
    std::set<std::string> seen;
    for (const Choice& choice : axis.choices) {
      if (!seen.insert(choice.label).second) {
        return bad_input("{}: {}: {} is given twice", origin_.of("over", key), axis.key,
                         choice.label);
      }
    }
    return {};
  }

  Result<Matrix> expand() {
    std::size_t count = 1;
    for (const Axis& axis : axes_) count *= std::min(axis.choices.size(), kRunsMax + 1);
    if (count > kRunsMax) {
      return bad_input("{}: {} runs are more than {}; take values away, or make several files",
                       file_.string(), count, kRunsMax);
    }
    for (std::size_t number = 1; number <= count; ++number) add_run(number);
    return std::move(matrix_);
  }

  void add_run(std::size_t number) {
    MatrixRun run{number, {}, common_};
    std::size_t rest = number - 1;
    std::vector<const Choice*> chosen;
    for (auto axis = axes_.rbegin(); axis != axes_.rend(); ++axis) {
      chosen.push_back(&axis->choices[rest % axis->choices.size()]);
      rest /= axis->choices.size();
    }
    for (auto choice = chosen.rbegin(); choice != chosen.rend(); ++choice) {
      run.labels.push_back((*choice)->label);
      run.arguments.insert(run.arguments.end(), (*choice)->arguments.begin(),
                           (*choice)->arguments.end());
    }
    matrix_.runs.push_back(std::move(run));
  }

  const std::filesystem::path& file_;
  const Origin origin_;
  Matrix matrix_;
  std::vector<std::string> common_;
  std::vector<Axis> axes_;
};

// In a cell of a table.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) {
    text.insert(at, "\\");
  }
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string row(std::vector<std::string> cells) {
  std::transform(cells.begin(), cells.end(), cells.begin(), cell);
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

}  // namespace

Result<Matrix> load_matrix(const std::filesystem::path& file) { return Reader(file).read(); }

Result<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  Shard shard;
  const auto number = [](std::string_view digits, std::size_t& into) {
    return digits.find_first_not_of("0123456789") == digits.npos &&
           boost::conversion::try_lexical_convert(digits, into) && into > 0;
  };
  if (slash == text.npos || !number(text.substr(0, slash), shard.number) ||
      !number(text.substr(slash + 1), shard.of) || shard.number > shard.of) {
    return bad_input("--shard {}: expected N/M with N from 1 to M, e.g. 3/8", text);
  }
  return shard;
}

std::string matrix_table(const Matrix& matrix, const MatrixResults& results) {
  std::vector<std::string> head{"run"};
  head.insert(head.end(), matrix.keys.begin(), matrix.keys.end());
  head.insert(head.end(), {"verdict", "found", "folder"});
  std::string table = row(head) + row(std::vector<std::string>(head.size(), "---"));
  for (const MatrixRun& run : matrix.runs) {
    std::vector<std::string> cells{std::to_string(run.number)};
    cells.insert(cells.end(), run.labels.begin(), run.labels.end());
    const auto found = results.find(run.number);
    const MatrixResult none{{}, 0, "not run", "", ""};
    const MatrixResult& result = found == results.end() ? none : found->second;
    cells.insert(cells.end(), {result.verdict, result.summary, result.folder});
    table += row(std::move(cells));
  }
  return table;
}

int worst_exit_code(const Matrix& matrix, const Shard& shard, const MatrixResults& results) {
  static constexpr int kFromWorst[] = {1, 255, 254, 3, 2, 0};
  std::set<int> codes;
  for (const MatrixRun& run : matrix.runs) {
    if (!shard.has(run)) continue;
    const auto found = results.find(run.number);
    codes.insert(found == results.end() ? 2 : found->second.exit_code);
  }
  for (const int code : kFromWorst) {
    if (codes.contains(code)) return code;
  }
  return codes.empty() ? 0 : 255;
}

}  // namespace ordeal
