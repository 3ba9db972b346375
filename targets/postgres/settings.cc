#include "targets/postgres/settings.h"

#include <array>

namespace ordeal::postgres {
namespace {

// It becomes part of a path, and of a package's name.
Status check_version(std::string_view /*name*/, const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!text.empty() && text.size() < 5 && digits) return {};
  return bad_input("expected the number of a major version, such as 15");
}

Status check_setting(std::string_view name, const std::string& value) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  constexpr std::array<std::string_view, 3> kOurs = {"port", "listen_addresses", "data_directory"};
  return check_server_setting(name, value, kLetters, kOurs, "postgresql.conf");
}

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {.name = "version",
     .type = OptionType::text,
     .default_value = "15",
     .summary = "major version; its programs are in /usr/lib/postgresql/VERSION/bin",
     .check = check_version},
    kPrimaryOption,
    {.name = "standbys",
     .type = OptionType::hosts,
     .default_value = "",
     .summary = "names of the hosts of streaming standbys of it"},
    {.name = "synchronous",
     .type = OptionType::boolean,
     .default_value = "false",
     .summary = "a commit waits until any one standby has it on disk (synchronous_standby_names)"},
    port_option("port", "5432", "TCP port of each server"),
    {.name = "settings.*",
     .type = OptionType::text,
     .default_value = "",
     .summary = "settings of postgresql.conf",
     .check = check_setting},
    kOperationTimeoutOption,
    kFaketimeOption,
});

// Who keeps WAL for standbys that were cut off is set by wal_keep_size, which came with this one.
constexpr int kStandbyVersionMin = 13;

Status check_standbys(const TargetInput& input, const Settings& settings) {
  if (settings.standbys.empty() && settings.synchronous) {
    return bad_input(
        "{}: target postgres: synchronous is true, and there are no standbys; add "
        "standbys, or leave it false",
        input.options.where("synchronous"));
  }
  if (settings.standbys.empty() || std::stoi(settings.version) >= kStandbyVersionMin) return {};
  return bad_input("{}: target postgres: standbys need PostgreSQL {} or later, and version is {}",
                   input.options.where("standbys"), kStandbyVersionMin, settings.version);
}

}  // namespace

std::span<const OptionSpec> option_specs() { return kOptions; }

Result<Settings> read_settings(const TargetInput& input) {
  Settings settings{.primary = {},
                    .standbys = {},
                    .synchronous = input.options.boolean("synchronous"),
                    .version = input.options.text("version"),
                    .port = static_cast<int>(input.options.integer("port")),
                    .server = input.options.group("settings"),
                    .operation_timeout = input.options.duration("operation-timeout"),
                    .faketime = input.options.boolean("faketime")};
  const NodeFinder finder{"postgres", input};
  ORDEAL_TRY_ASSIGN(settings.primary, finder.node_or_first("host"));
  ORDEAL_TRY_ASSIGN(settings.standbys,
                    finder.nodes("standbys", std::array{settings.primary}, "the primary's"));
  ORDEAL_TRY(check_standbys(input, settings));
  return settings;
}

}  // namespace ordeal::postgres
