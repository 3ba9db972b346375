// Rules of iptables as the faults of packets use them: a chain of the run's own, put in place in
// one step, and taken away whatever state it is in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nemesis/nemesis.h"

namespace ordeal {

// What happens to packets that match; each is a line of iptables-save without "-A CHAIN", such as
// "-s 10.0.0.1 -j DROP".
struct FilterRules {
  std::vector<std::string> input;   // of packets that arrive
  std::vector<std::string> output;  // of packets that leave
};

// Names of chains have at most 28 characters. `kind` tells the faults of a run apart: "P".
std::string filter_chain(std::string_view kind, const std::string& run_id);
std::string filter_program(bool ipv6);  // "iptables", "ip6tables"
bool is_ipv6(std::string_view address);

// All rules at once, or none: iptables-restore commits as a whole.
Command add_filter(const std::string& chain, bool ipv6, const FilterRules& rules);
// Any state is a fine start; fails when something of the chain is left.
Command remove_filter(const std::string& chain, bool ipv6);

// Probes, as FaultPlan::effect and healed: a new connection from where the command runs gets no
// answer for 0.4 s; or gets one within 2 s, and a refusal is one.
Command gets_no_answer(const std::string& address, int port);
Command gets_answer(const std::string& address, int port);
// Each of ten connections, one after the other, gets an answer sooner than its lost packets would
// be sent again, which TCP does after a second.
Command answers_at_once(const std::string& address, int port);
// There is no such chain.
Command has_no_filter(const std::string& chain, bool ipv6);

// No probe, but what others count: so many connections, a few at a time, each for at most half a
// second, whatever becomes of them.
Command connect_often(const std::string& address, int port, int connections);

}  // namespace ordeal
