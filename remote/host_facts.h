// What a host is, for people who choose hosts: its system, who logs in, room for data, and how far
// its clock is from ours. What it can do is abilities.h's.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "remote/host.h"

namespace ordeal {

struct ClockOffset {
  double seconds = 0;      // positive: the host's clock is ahead of this machine's
  double uncertainty = 0;  // seconds; the true offset lies this far on either side
};

struct HostFacts {
  std::string system;           // "Debian GNU/Linux 12 (bookworm)"
  std::string kernel;           // "Linux 6.1.0-18-amd64 x86_64"
  std::string login;            // user
  std::string root;             // "root", "sudo", "sudo asks for a password" or "no sudo"
  std::string iptables;         // "nft", "legacy" or "none"
  std::int64_t free_bytes = 0;  // where servers keep their data (HostSpec::directory)
  ClockOffset clock;
};

// Leaves nothing behind on the host. The offset is measured as in NTP (RFC 5905, section 8), from
// the quickest of several exchanges.
Result<HostFacts> gather_facts(Host& host, std::stop_token stop = {});

}  // namespace ordeal
