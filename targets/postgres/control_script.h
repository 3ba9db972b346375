// The program that controls a PostgreSQL server on its host. It is put into the server's directory
// when the cluster is made, so that commands, journals and messages name it in a few words, and
// people can run it.
#pragma once

namespace ordeal::postgres {

// POSIX shell. Run as `sh DIRECTORY/control VERB [ARGUMENT...]`:
//   start BINARIES [faketime], stop BINARIES, kill, pause, resume, running, clock OFFSET, state,
//   age, processes, clock-reading BINARIES PORT, commit BINARIES PORT, check BINARIES
//   [NAME=VALUE...], as-server PROGRAM [ARGUMENT...], copy BINARIES CONNECTION SECONDS
//   CONFIGURATION [--no-sync], replicating BINARIES PORT.
// All verbs are idempotent, and work as root (the server then runs as user postgres) and as any
// other user (who then owns the server). `start` returns once the server has taken its data
// directory, which is before it is ready; `running` tells by its exit status whether there is any
// process of the server. `check` asks PostgreSQL, before it runs, whether it accepts these
// settings, and exits with kSettingRefused if it does not: the name of the setting (nothing where
// it refuses the cluster's settings together) is then on stdout, PostgreSQL's message on stderr.
// `as-server` runs a program as the user that the server runs as. `copy` makes the cluster of a
// standby, where there is none, from the primary that the connection string leads to: waits SECONDS
// at most for it (exit status kPrimarySilent), COPY_SECONDS for the copy, and appends the
// configuration to what it copied.
// `replicating` fails unless the standby accepts connections and receives what the primary writes;
// it prints what the standby does instead.
extern const char* const kControlScript;

}  // namespace ordeal::postgres
