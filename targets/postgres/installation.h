// What may be wrong with a host or with the user's settings when PostgreSQL is installed there.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "remote/host.h"
#include "targets/postgres/server_scripts.h"
#include "targets/postgres/settings.h"

namespace ordeal::postgres {

inline constexpr std::chrono::milliseconds kInstallTimeout{60'000};

// A message of PostgreSQL's: "FATAL:  this\nDETAIL:  that" as "this DETAIL: that".
std::string one_line(const std::string& message);

// What install_command() and install_standby_command() came to.
Status check_installed(const Host& host, const ServerPlace& where, const Settings& settings,
                       const CommandOutput& output);
// What PostgreSQL refuses is the user's to change, and is found before it starts: bad_input.
Status check_accepted(Host& host, const ServerPlace& where, const Settings& settings,
                      std::stop_token stop);

}  // namespace ordeal::postgres
