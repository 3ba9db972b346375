// A lab: the hosts of a run, made for it on this machine. One face for all kinds:
//
//   netns  each host a network, mount, UTS, IPC and PID namespace with its own sshd; needs root
//   vm     each host a guest with a kernel of its own (qemu or User-Mode Linux); needs root, and an
//          image (guest_image.h)
//   local  each host a loopback address and a directory, its servers plain processes; needs nothing
//
// A lab is known by its name; its state is found again from another process by that name, or from a
// lab.json that was saved elsewhere. Errors are of kind surroundings (root or a tool is missing, a
// host did not come up) or bad_input (the request makes no sense). Functions may be called from any
// thread, except enter_control_namespace().
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "remote/host.h"

namespace ordeal {

inline constexpr std::string_view kLabKinds[] = {"netns", "vm", "local"};

struct LabRequest {
  std::string kind = "netns";      // one of kLabKinds
  std::string name;                // [a-z0-9][a-z0-9-]*, at most 32 characters
  std::vector<std::string> hosts;  // [a-z][a-z0-9]*, at most 12 characters; not "ctl" or "sw"
  // False: the lab belongs to this process, and is stale once the process ended. True: it stays
  // until lab_down().
  bool keep = false;
  // Each host of a netns or vm lab has a file system of its own for its servers, of this size, so
  // that faults may fill it; that of a netns host is in memory. 0: no such file system.
  std::int64_t disk_mib = 0;
  // Of a vm lab.
  std::string backend = "auto";  // one of kVmBackends (vm_backend.h)
  int memory_mib = 512;          // of each guest
};

struct Lab {
  std::string kind;
  std::string name;
  std::vector<HostSpec> hosts;
  std::vector<HostAbilities> abilities;  // of hosts, in the same order
  std::string control_address;           // as Cluster::control_address
};

// Brings all hosts up at once, or leaves nothing behind. A stale lab of the same name is taken down
// first; one that is in use is an error.
Result<Lab> lab_up(const LabRequest& request, std::stop_token stop = {});

// Ends all processes of the lab and removes every trace of it. Works on half-built labs, on those
// whose owner was killed, and on those that don't exist.
Status lab_down(std::string_view name);

// Takes down the labs whose owner ended without doing so. Never touches labs that are kept or in
// use.
Status lab_down_stale();

// Runs a program on a host, or on "ctl", with this process' standard streams; returns its exit
// status.
Result<int> lab_exec(std::string_view name, std::string_view host,
                     const std::vector<std::string>& arguments);

// The lab of this name that is up.
Result<Lab> find_lab(std::string_view name);

// False once the lab was taken down, whoever made it and did so. What is no lab of this machine
// (the hosts of an inventory) always is.
bool lab_is_left(const Lab& lab);

// Moves the process to where the lab's addresses can be reached: into the network namespace "ctl"
// of a netns or vm lab; nothing for other kinds. To be called early in main, while there is one
// thread: a namespace belongs to a thread, and new threads inherit it. Host names are not
// resolvable; use addresses.
Status enter_control_namespace(const Lab& lab);

// Hosts of the lab, not connected yet.
Cluster make_cluster(const Lab& lab);

// As JSON; no secrets, the key is a path.
Status save_lab(const Lab& lab, const std::filesystem::path& file);
Result<Lab> load_lab(const std::filesystem::path& file);

}  // namespace ordeal
