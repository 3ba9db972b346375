// ordeal check: judge saved histories.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/outcome.h"
#include "cli/pictures.h"
#include "orchestrator/store.h"
#include "report/certificate.h"
#include "report/verdict_json.h"
#include "report/verdict_text.h"

namespace ordeal {
namespace {

struct CheckArguments {
  std::vector<std::string> files;
  std::string checker;
  std::optional<std::string> model;
  std::string format = "auto";
  std::vector<std::string> options;
  std::string certificate;  // file; "" for none
  std::string pictures;     // directory; "" for none
  bool json = false;
  bool repair = false;
};

bool has_option(const CheckerEntry& checker, std::string_view name) {
  return std::any_of(checker.options.begin(), checker.options.end(),
                     [&](const auto& spec) { return spec.name == name; });
}

Status check_model(const CheckArguments& arguments, const CheckerEntry& checker) {
  if (!arguments.model || has_option(checker, "model")) return {};
  std::vector<std::string_view> others;
  for (const CheckerEntry& other : checker_catalog()) {
    if (has_option(other, "model")) others.push_back(other.name);
  }
  return bad_input("--model {}: checker {} knows no consistency models; those that do are {}",
                   *arguments.model, checker.name, fmt::join(others, ", "));
}

Result<Options> options_of(const CheckArguments& arguments, const CheckerEntry& checker) {
  Options::Given given;
  for (const auto& option : arguments.options) {
    const auto equals = option.find('=');
    if (equals == std::string::npos) return bad_input("--option {}: expected key=value", option);
    given[option.substr(0, equals)] = {option.substr(equals + 1), "--option"};
  }
  if (arguments.model) given["model"] = {*arguments.model, "--model"};
  ORDEAL_TRY(check_model(arguments, checker));
  const bool proves = has_option(checker, "certificate");
  if (proves && !arguments.certificate.empty()) given["certificate"] = {"true", "--certificate"};
  return Options::make(fmt::format("checker {}", checker.name), checker.options, given);
}

// A verdict that can't be proved stands all the same; why there is no proof is told.
Status save_certificate(const CheckArguments& arguments, const CheckResult& result) {
  if (result.certificate.empty()) {
    std::error_code ignored;
    std::filesystem::remove(arguments.certificate, ignored);  // one of an earlier verdict
    const std::string why = result.validity != Validity::valid
                                ? "only a valid verdict has a certificate"
                            : result.certificate_note.empty()
                                ? fmt::format("checker {} gives no certificates", result.checker)
                                : result.certificate_note;
    fmt::print(stderr, "ordeal: warning: {}: not written: {}\n", arguments.certificate, why);
    return {};
  }
  return write_file(arguments.certificate, certificate_text(result.certificate));
}

Result<Validity> check_file(const CheckArguments& arguments, const std::string& file) {
  ORDEAL_TRY_ASSIGN(const LoadedHistory loaded,
                    load_history(file, {arguments.format, arguments.repair}));
  ORDEAL_TRY_ASSIGN(const CheckerEntry* checker, choose_checker(arguments.checker, loaded));
  ORDEAL_TRY_ASSIGN(const Options options, options_of(arguments, *checker));
  const Judgement judgement = judge(loaded, *checker, options, {});
  for (const auto& warning : judgement.warnings) {
    if (arguments.json) fmt::print(stderr, "ordeal: warning: {}\n", warning);
  }
  print_result(arguments.json ? verdict_json(judgement, false) + "\n"
                              : verdict_text(judgement, {isatty(STDOUT_FILENO) == 1}));
  if (!arguments.certificate.empty()) ORDEAL_TRY(save_certificate(arguments, judgement.result));
  if (!arguments.pictures.empty()) {
    ORDEAL_TRY(write_pictures(judgement.result, arguments.pictures));
  }
  return judgement.result.validity;
}

// A file that can't be judged decides the exit code, but not before the others were judged.
int check(const CheckArguments& arguments) {
  const bool any_number = arguments.certificate.empty() && arguments.pictures.empty();
  if (!any_number && arguments.files.size() != 1) {
    return complain(
        bad_input("--certificate and --pictures are for one history at a time").value());
  }
  Validity all = Validity::valid;
  int failure = 0;
  for (const auto& file : arguments.files) {
    const auto validity = check_file(arguments, file);
    if (validity) {
      all = merge(all, *validity);
    } else {
      failure = std::max(failure, complain(validity.error()));
    }
  }
  return failure != 0 ? failure : exit_code_of(all);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<CheckArguments>();
  auto* command = app.add_subcommand("check", "Judge saved histories");
  command->footer(
      "Examples:\n"
      "  ordeal check store/latest/history.ohist\n"
      "  ordeal check --model snapshot-isolation --json jepsen/history.edn");
  command->add_option("history", arguments->files, "History files, of any format of --format")
      ->required();
  command->add_option("--checker", arguments->checker,
                      "See `ordeal list checkers`; by default chosen by content");
  command->add_option("--model", arguments->model, "Consistency model; see `ordeal list models`");
  command->add_option("--format", arguments->format, "auto, ordeal, edn, json, plume or dbcop")
      ->check(CLI::IsMember({"auto", "ordeal", "edn", "json", "plume", "dbcop"}));
  command->add_option("--option", arguments->options, "key=value of the checker; repeatable")
      ->allow_extra_args(false);
  command->add_option("--certificate", arguments->certificate,
                      "Write the proof of a valid verdict to this file; see docs/certificates.md");
  command->add_flag("--repair", arguments->repair,
                    "Mend a history that is not as it was recorded, and say what was changed");
  command->add_option("--pictures", arguments->pictures,
                      "Draw each cycle into this directory, as DOT and SVG");
  command->add_flag("--json", arguments->json, "Print one JSON object per history");
  command->callback([arguments, &action] { action = [arguments] { return check(*arguments); }; });
}

}  // namespace ordeal
