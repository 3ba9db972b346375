// The program that controls a member of etcd on its host.
#pragma once

#include <string>

namespace ordeal::etcd {

// To the verbs that all servers have (targets/control_script.h) it adds
//   start, stop, wipe, check [FLAG...], commit URL, members URL.
// `start` runs etcd with the flags that the file DIRECTORY/flags lists, one a line, and returns
// once it has taken its data directory, which is before it is ready. `check` asks etcd whether it
// knows these flags and takes their values, each alone; of the first that it does not, the name is
// on stdout, its message on stderr, and the exit status is kSettingRefused. `wipe` kills the member
// and removes its data. `commit` waits until a small change is durable. `members` prints the names
// of the members that the member at URL counts, one a line.
std::string control_script();

}  // namespace ordeal::etcd
