#include "targets/etcd/settings.h"

#include <algorithm>
#include <array>

namespace ordeal::etcd {
namespace {

constexpr std::string_view kLinearizable = "linearizable";
constexpr std::string_view kSerializable = "serializable";
constexpr std::array<std::string_view, 2> kReads = {kLinearizable, kSerializable};

// What the target decides, beside all flags of these beginnings.
constexpr std::string_view kOurs[] = {
    "name",        "data-dir",           "wal-dir",          "config-file",          "logger",
    "log-outputs", "heartbeat-interval", "election-timeout", "advertise-client-urls"};
constexpr std::string_view kOurBeginnings[] = {"initial-", "listen-"};

bool is_ours(std::string_view name) {
  return std::find(std::begin(kOurs), std::end(kOurs), name) != std::end(kOurs) ||
         std::any_of(std::begin(kOurBeginnings), std::end(kOurBeginnings),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

Status check_version(std::string_view /*name*/, const std::string& text) {
  if (text.find_first_not_of("0123456789.") == std::string::npos) return {};
  return bad_input("expected the beginning of a version, such as 3.4");
}

Status check_flag(std::string_view name, const std::string& value) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";
  const std::string_view flag = name.substr(std::string_view("settings.").size());
  if (is_ours(flag)) return bad_input("the target's other settings decide this");
  if (flag.starts_with('-')) return bad_input("expected a flag of etcd without its hyphens");
  return check_server_setting(name, value, kLetters, {}, "etcd, a flag without its hyphens");
}

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {.name = "version",
     .type = OptionType::text,
     .default_value = "3",
     .summary = "that must be installed, or its beginning",
     .check = check_version},
    {.name = "hosts",
     .type = OptionType::hosts,
     .default_value = "",
     .summary = "names of the hosts of its members; empty: all"},
    port_option("port", "2379", "TCP port for clients of each member"),
    port_option("peer-port", "2380", "TCP port for the other members"),
    {.name = "heartbeat-interval",
     .type = OptionType::duration,
     .default_value = "100ms",
     .summary = "time between two heartbeats of the leader",
     .minimum = 10,
     .maximum = 10'000},
    {.name = "election-timeout",
     .type = OptionType::duration,
     .default_value = "1s",
     .summary = "a member that hears no leader for this long stands for election",
     .minimum = 50,
     .maximum = 50'000},
    {.name = "reads",
     .type = OptionType::text,
     .default_value = kLinearizable,
     .summary =
         "serializable: the member that is asked answers from its own data, which may be old",
     .choices = kReads},
    {.name = "settings.*",
     .type = OptionType::text,
     .default_value = "",
     .summary = "flags of etcd, e.g. quota-backend-bytes",
     .check = check_flag},
    {.name = "operation-timeout",
     .type = OptionType::duration,
     .default_value = "5s",
     .summary = "longest wait for an operation's outcome; after it, a write's outcome is unknown",
     .minimum = 1},
});

Result<std::vector<Node>> find_members(const TargetInput& input) {
  ORDEAL_TRY_ASSIGN(std::vector<Node> members, NodeFinder({"etcd", input}).nodes("hosts", {}, ""));
  if (members.empty()) {
    for (const Host* host : input.cluster.hosts()) {
      members.push_back({host->name(), host->spec().address});
    }
  }
  if (members.empty()) return bad_input("target etcd needs a host, and the campaign has none");
  return members;
}

// etcd's own rules, found before it starts.
Status check_together(const Options& options, const Settings& settings) {
  if (settings.port == settings.peer_port) {
    return bad_input("{}: target etcd: port and peer-port are both {}; give one another number",
                     options.where("peer-port"), settings.port);
  }
  if (settings.election_timeout >= 5 * settings.heartbeat_interval) return {};
  return bad_input(
      "{}: target etcd: election-timeout is {}, and etcd demands at least five times the "
      "heartbeat-interval, which is {}",
      options.where("election-timeout"), format_duration(settings.election_timeout),
      format_duration(settings.heartbeat_interval));
}

}  // namespace

std::span<const OptionSpec> option_specs() { return kOptions; }

Result<Settings> read_settings(const TargetInput& input) {
  const Options& options = input.options;
  Settings settings{.members = {},
                    .version = options.text("version"),
                    .port = static_cast<int>(options.integer("port")),
                    .peer_port = static_cast<int>(options.integer("peer-port")),
                    .heartbeat_interval = options.duration("heartbeat-interval"),
                    .election_timeout = options.duration("election-timeout"),
                    .serializable_reads = options.text("reads") == kSerializable,
                    .flags = options.group("settings"),
                    .operation_timeout = options.duration("operation-timeout")};
  ORDEAL_TRY_ASSIGN(settings.members, find_members(input));
  ORDEAL_TRY(check_together(options, settings));
  return settings;
}

}  // namespace ordeal::etcd
