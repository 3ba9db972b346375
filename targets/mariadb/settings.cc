#include "targets/mariadb/settings.h"

#include <algorithm>
#include <array>

namespace ordeal::mariadb {
namespace {

// "10.11": compared with the beginning of what the host has.
Status check_version(std::string_view /*name*/, const std::string& text) {
  const auto dot = text.find('.');
  const bool digits = text.find_first_not_of("0123456789.") == std::string::npos;
  if (digits && dot != std::string::npos && dot > 0 && dot + 1 < text.size()) return {};
  return bad_input("expected the number of a release series, such as 10.11");
}

// MariaDB takes - for _ in names, and any of them may begin with loose.
Status check_setting(std::string_view name, const std::string& value) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_.";
  constexpr std::array<std::string_view, 9> kOurs = {
      "port", "bind_address",         "datadir", "socket", "pid_file", "log_error", "server_id",
      "user", "wsrep_cluster_address"};
  return check_server_setting(name, value, kLetters, kOurs, "my.cnf, in lower case and with _");
}

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {.name = "version",
     .type = OptionType::text,
     .default_value = "10.11",
     .summary = "release series that the hosts must have",
     .check = check_version},
    kPrimaryOption,
    {.name = "replicas",
     .type = OptionType::hosts,
     .default_value = "",
     .summary = "names of the hosts of its replicas (by GTID)"},
    {.name = "semi-sync",
     .type = OptionType::boolean,
     .default_value = "false",
     .summary = "a commit waits until any one replica has it (rpl_semi_sync, AFTER_SYNC)"},
    {.name = "galera",
     .type = OptionType::hosts,
     .default_value = "",
     .summary = "names of the hosts of a Galera cluster, an odd number, in place of host and "
                "replicas"},
    port_option("port", "3306", "TCP port of each server; Galera's own are 4567, 4568 and 4444"),
    {.name = "settings.*",
     .type = OptionType::text,
     .default_value = "",
     .summary = "settings of my.cnf",
     .check = check_setting},
    kOperationTimeoutOption,
    kFaketimeOption,
});

Result<std::vector<Node>> members(const NodeFinder& finder, const Options& options) {
  for (const char* other : {"host", "replicas"}) {
    if (options.list(other).empty()) continue;
    return bad_input(
        "{}: target mariadb: {} is for a server that Galera does not replicate; "
        "remove it, or galera",
        options.where(other), other);
  }
  ORDEAL_TRY_ASSIGN(auto nodes, finder.nodes("galera", {}, ""));
  if (nodes.size() >= 3 && nodes.size() % 2 == 1) return nodes;
  return bad_input(
      "{}: target mariadb: galera names {} host{}; expected an odd number from 3 on, since half of "
      "the members are no majority",
      options.where("galera"), nodes.size(), nodes.size() == 1 ? "" : "s");
}

Result<std::vector<Node>> primary_and_replicas(const NodeFinder& finder) {
  ORDEAL_TRY_ASSIGN(Node primary, finder.node_or_first("host"));
  std::vector<Node> nodes = {std::move(primary)};
  ORDEAL_TRY_ASSIGN(const auto replicas, finder.nodes("replicas", nodes, "the primary's"));
  nodes.insert(nodes.end(), replicas.begin(), replicas.end());
  return nodes;
}

}  // namespace

std::span<const OptionSpec> option_specs() { return kOptions; }

Result<Settings> read_settings(const TargetInput& input) {
  const Options& options = input.options;
  Settings settings{.nodes = {},
                    .galera = !options.list("galera").empty(),
                    .semi_sync = options.boolean("semi-sync"),
                    .version = options.text("version"),
                    .port = static_cast<int>(options.integer("port")),
                    .server = options.group("settings"),
                    .operation_timeout = options.duration("operation-timeout"),
                    .faketime = options.boolean("faketime")};
  const NodeFinder finder{"mariadb", input};
  ORDEAL_TRY_ASSIGN(settings.nodes,
                    settings.galera ? members(finder, options) : primary_and_replicas(finder));
  if (!settings.semi_sync || settings.replicated()) return settings;
  return bad_input(
      "{}: target mariadb: semi-sync is true, and there are no replicas; add replicas, or leave it "
      "false",
      options.where("semi-sync"));
}

}  // namespace ordeal::mariadb
