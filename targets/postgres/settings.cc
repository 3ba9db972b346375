#include "targets/postgres/settings.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/join.hpp>

namespace ordeal::postgres {
namespace {

// It becomes part of a path, and of a package's name.
Status check_version(std::string_view /*name*/, const std::string& text) {
  const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
  if (!text.empty() && text.size() < 5 && digits) return {};
  return bad_input("expected the number of a major version, such as 15");
}

// A setting goes into a configuration file as a name, and must not become anything else there.
Status check_setting(std::string_view name, const std::string& value) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  constexpr std::array<std::string_view, 3> kOurs = {"port", "listen_addresses", "data_directory"};
  name.remove_prefix(std::string_view("settings.").size());
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
    return bad_input("the target's port and host decide this");
  }
  if (name.empty() || name.find_first_not_of(kLetters) != std::string_view::npos) {
    return bad_input("expected the name of a setting of postgresql.conf");
  }
  if (value.find('\n') == std::string::npos) return {};
  return bad_input("expected a single line");
}

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {.name = "version",
     .type = OptionType::text,
     .default_value = "15",
     .summary = "major version; its programs are in /usr/lib/postgresql/VERSION/bin",
     .check = check_version},
    {.name = "host",
     .type = OptionType::host,
     .default_value = "",
     .summary = "name of the host that the server (or the primary) runs on; empty: the first"},
    {.name = "standbys",
     .type = OptionType::hosts,
     .default_value = "",
     .summary = "names of the hosts of streaming standbys of it"},
    {.name = "synchronous",
     .type = OptionType::boolean,
     .default_value = "false",
     .summary = "a commit waits until any one standby has it on disk (synchronous_standby_names)"},
    {.name = "port",
     .type = OptionType::integer,
     .default_value = "5432",
     .summary = "TCP port of each server",
     .minimum = 1,
     .maximum = 65535},
    {.name = "settings.*",
     .type = OptionType::text,
     .default_value = "",
     .summary = "settings of postgresql.conf",
     .check = check_setting},
    {.name = "operation-timeout",
     .type = OptionType::duration,
     .default_value = "5s",
     .summary = "longest wait for an operation's outcome; after it, the outcome is unknown",
     .minimum = 1},
    {.name = "faketime",
     .type = OptionType::boolean,
     .default_value = "true",
     .summary = "run the server under libfaketime where installed, for faults of the clock"},
});

// Who keeps WAL for standbys that were cut off is set by wal_keep_size, which came with this one.
constexpr int kStandbyVersionMin = 13;

Node node_of(const Host& host) { return {.host = host.name(), .address = host.spec().address}; }

Result<Node> find_node(const TargetInput& input, const std::string& name) {
  if (const Host* host = input.cluster.find(name)) return node_of(*host);
  std::vector<std::string> names;
  for (const Host* host : input.cluster.hosts()) names.push_back(host->name());
  return bad_input("target postgres: there is no host \"{}\"; hosts are {}", name,
                   boost::join(names, ", "));
}

Result<Node> find_primary(const TargetInput& input) {
  const auto hosts = input.cluster.hosts();
  if (hosts.empty()) return bad_input("target postgres needs a host, and the campaign has none");
  const std::string& name = input.options.text("host");
  if (name.empty()) return node_of(*hosts.front());
  return find_node(input, name);
}

Status add_standbys(const TargetInput& input, Settings& settings) {
  for (const std::string& name : input.options.list("standbys")) {
    ORDEAL_TRY_ASSIGN(Node node, find_node(input, name));
    const bool twice = std::any_of(settings.standbys.begin(), settings.standbys.end(),
                                   [&](const Node& other) { return other.host == name; });
    if (twice || name == settings.primary.host) {
      return bad_input("{}: target postgres: standbys: host \"{}\" {}; name another host",
                       input.options.where("standbys"), name,
                       twice ? "is named twice" : "is the primary's");
    }
    settings.standbys.push_back(std::move(node));
  }
  return {};
}

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
  ORDEAL_TRY_ASSIGN(settings.primary, find_primary(input));
  ORDEAL_TRY(add_standbys(input, settings));
  ORDEAL_TRY(check_standbys(input, settings));
  return settings;
}

}  // namespace ordeal::postgres
