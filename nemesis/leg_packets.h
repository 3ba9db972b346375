// Where the packets of a leg can be matched, and how: for faults that drop, lose or delay them.
#pragma once

#include <string>
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

// Of all paths of the fault's legs. The server's end; of a path through the fault proxy whose
// client is a host, the client's, since there the packets of different legs differ. Refuses the
// port of SSH, by which the host is reached.
Result<std::vector<LegEnd>> leg_ends(const Fault& fault, const Battlefield& battlefield);

// Rules that send what goes that way (see Fault) to `target`, e.g. "DROP".
FilterRules leg_rules(const LegEnd& end, const std::string& direction, const std::string& target);

// A probe for each path, from its own client: gets_no_answer() or gets_answer().
std::vector<HostCommands> probe_paths(const Fault& fault, const Battlefield& battlefield,
                                      Command (*probe)(const std::string& address, int port));

}  // namespace ordeal
