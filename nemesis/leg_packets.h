// Where the packets of a leg can be matched, and how: for faults that drop, lose or delay them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nemesis/nemesis.h"
#include "nemesis/packet_filter.h"

namespace ordeal {

// One end of a path, on the host that sees its packets and can filter them.
struct LegEnd {
  std::string host;
  std::string peer;       // address at the other end
  int port = 0;           // of the server's end
  bool is_server = true;  // whether `host` is the server's end
};

// The server's end; of a path through the fault proxy whose client is a host, the client's, since
// there the packets of different legs differ. Refuses the port of SSH, by which the host is
// reached.
Result<LegEnd> leg_end(const Fault& fault, const Battlefield& battlefield, const Path& path);
// Of all paths of the fault's legs.
Result<std::vector<LegEnd>> leg_ends(const Fault& fault, const Battlefield& battlefield);

// The rule for what goes that way (see Fault), with each of `actions` in turn, e.g. "-j DROP".
FilterRules leg_rules(const LegEnd& end, const std::string& direction,
                      const std::vector<std::string>& actions);

// Puts such rules into one chain on each host that has an end of the fault's legs.
struct LegFilter {
  std::string chain;
  std::map<std::string, bool> hosts{};  // and whether they use IPv6
  std::vector<HostCommands> add{};
  std::vector<HostCommands> remove{};
};
// `kind` as for filter_chain(). Needs the parameter "direction".
Result<LegFilter> filter_legs(const Fault& fault, const Battlefield& battlefield,
                              std::string_view kind, const std::vector<std::string>& actions);

// A probe for each path, from its own client, such as gets_no_answer() or gets_answer().
using PathProbe = std::function<Command(const std::string& address, int port)>;
std::vector<HostCommands> probe_paths(const Fault& fault, const Battlefield& battlefield,
                                      const PathProbe& probe);

// "in both directions", "on the way to the server", ...
std::string_view direction_words(const Fault& fault);

}  // namespace ordeal
