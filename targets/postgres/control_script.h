// What the program that controls a server on its host (targets/control_script.h) does for
// PostgreSQL.
#pragma once

#include <string>

namespace ordeal::postgres {

// Its verbs, besides those of every system:
//   start BINARIES [faketime], stop BINARIES, wipe BINARIES, clock-reading BINARIES PORT, commit
//   BINARIES PORT, check BINARIES [NAME=VALUE...], copy BINARIES CONNECTION SECONDS COPY_SECONDS
//   CONFIGURATION [--no-sync], replicating BINARIES PORT, members BINARIES PORT, follow and
//   following BINARIES PORT CONNECTION SLOT.
// `start` returns once the server has taken its data directory, which is before it is ready. `wipe`
// kills the server and removes its data. `check` asks PostgreSQL, before it runs, whether it
// accepts these settings, and exits with kSettingRefused if it does not: the name of the setting
// (nothing where it refuses the cluster's settings together) is then on stdout, PostgreSQL's
// message on stderr. `copy` makes the cluster of a standby, where there is none, from the primary
// that the connection string leads to: waits SECONDS at most for it (exit status kPrimarySilent),
// COPY_SECONDS for the copy, and appends the configuration to what it copied. `replicating` fails
// unless the standby accepts connections and receives what the primary writes; it prints what the
// standby does instead.
std::string control_script();

}  // namespace ordeal::postgres
