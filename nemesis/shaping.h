// Queueing disciplines (tc) that slow down, limit or spoil the packets of a leg, and no others:
// below a root of our own (htb), a filter sends the leg's packets into one queue, and everything
// else, such as SSH, passes by unqueued.
//
// Only what a host sends can be queued. So a leg is shaped upstream at its client's end, where that
// is a host, and downstream at its server's, where packets of the leg leave it. The control node is
// no host: what clients there send cannot be shaped, and takes a fault of the fault proxy.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "nemesis/leg_packets.h"
#include "nemesis/nemesis.h"

namespace ordeal {

// Of "upstream", "downstream" and "both", those in which all paths of the leg can be shaped.
std::vector<std::string> shaped_directions(const Leg& leg);

// A fault on a drawn leg, in a drawn direction that can be shaped; no leg where there is none.
Fault draw_shaped(std::string name, const Options& options, const Terrain& terrain, Random& random,
                  std::map<std::string, std::string> parameters);

// Ends that send the packets of the fault's direction. bad_input where that is not a host.
Result<std::vector<LegEnd>> sending_ends(const Fault& fault, const Battlefield& battlefield);

// Where they arrive: hosts, or kControlNode.
Result<std::set<std::string>> receiving_hosts(const Fault& fault, const Battlefield& battlefield);

// Of the root, as tc writes it: "d3a7". Tells the faults of all runs apart, but for one in 4096.
std::string shaping_handle(const Fault& fault, const std::string& run_id);

// Sends what leaves these ends of one host through `queue`, e.g. "netem delay 50ms". Fails where
// the interface has a root that is not the kernel's default: another fault, or an administrator,
// put it there. May be run again.
Command add_shaping(const std::string& handle, const std::vector<LegEnd>& ends,
                    const std::string& queue);
// Any state is a fine start; fails when something of the handle is left. Others' are not touched.
Command remove_shaping(const std::string& handle);

// Probes, as FaultPlan::effect and healed. Packets went through the queue, and from then on, for a
// moment, no more than such a burst and so many bytes a second (0: any number); there is no such
// queue.
Command is_shaped(const std::string& handle, std::int64_t bytes_per_second,
                  std::int64_t burst_bytes);
Command is_not_shaped(const std::string& handle);

// What the kernel of a receiver counts of all its connections, by the names of /proc/net/snmp and
// /proc/net/netstat, as in "Tcp:InCsumErrors".
struct Reception {
  std::string_view what;  // "segments with a wrong checksum"
  std::vector<std::string> counters;
  int least = 1;
};
// Within five seconds from now at least so many of them arrive.
Command has_received(const Reception& reception);

}  // namespace ordeal
