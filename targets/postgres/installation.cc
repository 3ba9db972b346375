#include "targets/postgres/installation.h"

#include <algorithm>
#include <boost/algorithm/string/erase.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <utility>
#include <vector>

namespace ordeal::postgres {
namespace {

std::string setting_names(const std::map<std::string, std::string>& settings) {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) names.push_back("target.postgres.settings." + name);
  return boost::join(names, ", ");
}

}  // namespace

std::string one_line(const std::string& message) {
  std::string line = boost::trim_copy(message);
  for (const char* severity : {"FATAL:", "ERROR:"}) boost::erase_first(line, severity);
  std::replace(line.begin(), line.end(), '\n', ' ');
  boost::replace_all(line, ":  ", ": ");
  return boost::trim_copy(line);
}

Status check_installed(const Host& host, const ServerPlace& where, const Settings& settings,
                       const CommandOutput& output) {
  switch (output.exit_status) {
    case 0:
      return {};
    case kBinariesMissing:
      return surroundings_error(
          "{}: there is no PostgreSQL {} in {}; install the package postgresql-{} on that host, or "
          "set the target's version",
          host.name(), settings.version, where.binaries.string(), settings.version);
    case kPortTaken:
      return surroundings_error(
          "{}: port {} of {} is in use by another program; stop that, or set the target's port",
          host.name(), settings.port, where.address);
    case kUserMissing:
      return surroundings_error(
          "{}: there is no user postgres, and PostgreSQL refuses to run as root; install the "
          "package "
          "postgresql-common, or log in as another user",
          host.name());
    case kClusterExists:
      return surroundings_error(
          "{}: {} holds a database cluster already, or other files, and not from Ordeal; remove it "
          "first",
          host.name(), where.data().string());
    default:
      return surroundings_error("{}: could not create a PostgreSQL cluster in {}: {}", host.name(),
                                where.data().string(), boost::trim_copy(output.standard_error));
  }
}

Status check_accepted(Host& host, const ServerPlace& where, const Settings& settings,
                      std::stop_token stop) {
  const auto command = check_command(where, settings.server);
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kInstallTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  const std::string message = one_line(output.standard_error);
  if (output.exit_status != kSettingRefused) {
    return surroundings_error("{}: could not check the settings of PostgreSQL: {}", host.name(),
                              message);
  }
  const std::string name = boost::trim_copy(output.standard_output);
  if (name.empty()) {
    return bad_input(
        "{}: PostgreSQL {} refuses the campaign's settings together: {}; correct one of {}",
        host.name(), settings.version, message, setting_names(settings.server));
  }
  return bad_input(
      "{}: PostgreSQL {} refuses {} = '{}': {}; correct or remove target.postgres.settings.{} in "
      "the campaign",
      host.name(), settings.version, name, settings.server.at(name), message, name);
}

}  // namespace ordeal::postgres
