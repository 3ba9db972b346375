// What labs made of namespaces and of guests have in common: a switch in a network namespace "sw",
// the control node's place in another, "ctl", and for each host its name, address, keys and sshd
// configuration. The machine's own network sees nothing: addresses exist only inside the
// namespaces, so that all labs use the same ones without meeting.
//
// Network namespaces are named ordeal-LAB-HOST (see ip-netns(8)); neither contains what would make
// this ambiguous, since host names have no hyphen. A process of a lab is known by its network
// namespace, or, while it is on the way there, by an environment variable.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "orchestrator/lab/lab.h"
#include "orchestrator/lab/lab_state.h"
#include "remote/process.h"

namespace ordeal {

inline constexpr std::string_view kNetnsDirectory = "/run/netns";
inline constexpr std::string_view kLabMarkVariable = "ORDEAL_LAB";
inline constexpr std::string_view kControlAddress = "10.77.0.1";
inline constexpr std::size_t kLabHostsMax = 200;  // each has an address

std::string netns_name(std::string_view lab, std::string_view host);
// "NAME=value" of processes that build the lab.
std::string lab_mark(std::string_view lab);

// Names those of the programs that are not installed, or is empty.
std::string missing_tools(const std::vector<std::string>& programs);
// Whether labs of this kind can be built here: by root, with these programs, which are in these
// packages.
Status check_lab_possible(std::string_view kind, const std::vector<std::string>& programs,
                          std::string_view packages);

// Takes down what was built by a Scaffold, and all processes in its namespaces. Idempotent. The
// lock is held.
Status destroy_scaffold(std::string_view lab);

// Tools and hosts are started with the mark, so that those of a killed builder are found.
class Scaffold {
 public:
  // What a host hangs on the switch by: a cable into a namespace of its own, named after it, or a
  // tap device in the switch's namespace, for another kernel.
  enum class Plug { cable, tap };

  // The lab is claimed. `request` outlives the object.
  Scaffold(const LabRequest& request, std::stop_token stop);

  // Everything but the hosts themselves. On failure the caller destroys what was built.
  Status build(Plug plug) const;

  const std::vector<std::string>& hosts() const { return request_.hosts; }
  const std::string& lab() const { return request_.name; }
  const LabPlaces& places() const { return places_; }
  const std::stop_token& stop() const { return stop_; }
  std::string netns(std::string_view host) const { return netns_name(request_.name, host); }
  std::string address(std::size_t host) const;
  std::string device(std::size_t host) const;  // of its plug, in the switch's namespace
  HostSpec spec(std::size_t host) const;

  ProcessRequest marked(std::vector<std::string> arguments, std::string input = {}) const;
  Status tool(std::vector<std::string> arguments, std::string input = {}) const;

 private:
  Status write_names() const;
  Status make_key(const std::filesystem::path& file, const std::string& comment) const;
  Status prepare_host(std::size_t host) const;
  Status make_network(Plug plug) const;
  Status configure(const std::string& host, const std::string& address) const;
  std::string plug_in(Plug plug, const std::string& host, std::size_t number) const;
  Status write_known_hosts() const;

  const LabRequest& request_;
  const LabPlaces places_;
  const std::stop_token stop_;
};

// The sshd configuration of a host, without ListenAddress.
extern const std::string_view kSshdConfig;

}  // namespace ordeal
