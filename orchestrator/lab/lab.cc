#include "orchestrator/lab/lab.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <set>

#include "orchestrator/lab/lab_state.h"
#include "orchestrator/lab/local_lab.h"
#include "orchestrator/lab/netns_lab.h"
#include "orchestrator/lab/processes.h"
#include "orchestrator/lab/scaffold.h"
#include "orchestrator/lab/vm_lab.h"
#include "remote/process.h"

namespace ordeal {
namespace {

bool all_of(std::string_view text, std::string_view extra) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           extra.find(c) != std::string_view::npos;
  });
}

Status check_lab_name(std::string_view name) {
  if (!name.empty() && name.size() <= 32 && name.front() != '-' && all_of(name, "-")) return {};
  return bad_input(
      "`{}` cannot be the name of a lab: use 1 to 32 of a-z, 0-9 and -, beginning with a letter or "
      "digit",
      name);
}

// Its hosts hang on a network of this machine's namespaces.
bool has_scaffold(std::string_view kind) { return kind == "netns" || kind == "vm"; }

Status check_possible(const std::string& kind) {
  if (kind == "netns") return check_netns_possible();
  if (kind == "vm") return check_vm_possible();
  return {};
}

Status check_request(const LabRequest& request) {
  ORDEAL_TRY(check_lab_name(request.name));
  if (std::find(std::begin(kLabKinds), std::end(kLabKinds), request.kind) == std::end(kLabKinds)) {
    return bad_input("`{}` is no kind of lab; use one of: {}", request.kind,
                     fmt::join(kLabKinds, ", "));
  }
  if (request.hosts.empty()) return bad_input("lab {} has no hosts", request.name);
  if (request.hosts.size() > kLabHostsMax) {
    return bad_input("a lab has at most {} hosts, not {}", kLabHostsMax, request.hosts.size());
  }
  std::set<std::string_view> seen{"ctl", "sw", "localhost"};
  for (const std::string& host : request.hosts) {
    const bool good = !host.empty() && host.size() <= 12 && host.front() >= 'a' && all_of(host, "");
    if (!good) {
      return bad_input(
          "`{}` cannot be a host of a lab: use 1 to 12 of a-z and 0-9, beginning with a letter",
          host);
    }
    if (!seen.insert(host).second) {
      return bad_input("host name `{}` is given twice, or is one that the lab itself uses", host);
    }
  }
  return {};
}

// The lock is held.
Status take_down(std::string_view name) {
  const std::string kind = lab_kind(name);
  if (kind == "local") {
    ORDEAL_TRY(destroy_local_lab(name));
  } else if (geteuid() == 0) {
    ORDEAL_TRY(destroy_scaffold(name));
  }
  return forget_lab(name);
}

Status claim(const LabRequest& request) {
  ORDEAL_TRY_ASSIGN(const LabLock lock, LabLock::take());
  const LabOwner owner = lab_owner(request.name);
  if (owner.ownership == LabOwnership::kept) {
    return surroundings_error(
        "lab {0} is already up; take it down by `ordeal lab down --name {0}`, or use "
        "another name",
        request.name);
  }
  if (owner.ownership == LabOwnership::in_use) {
    return surroundings_error("lab {} is in use by process {}; use another name", request.name,
                              owner.pid);
  }
  ORDEAL_TRY(take_down(request.name));
  return claim_lab(request);
}

Result<Lab> build_kind(const LabRequest& request, const std::stop_token& stop) {
  if (request.kind == "local") return build_local_lab(request);
  if (request.kind == "vm") return build_vm_lab(request, stop);
  return build_netns_lab(request, stop);
}

Result<Lab> build(const LabRequest& request, const std::stop_token& stop) {
  ORDEAL_TRY_ASSIGN(Lab lab, build_kind(request, stop));
  ORDEAL_TRY(save_lab(lab, lab_places(request.name).state / "lab.json"));
  if (request.keep) ORDEAL_TRY(keep_lab(request.name));
  return lab;
}

std::vector<std::string> over_ssh(const HostSpec& host, const std::string& from,
                                  const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"ip", "netns", "exec", from, "ssh", "-F", "none"};
  for (const char* option :
       {"IdentitiesOnly=yes", "BatchMode=yes", "StrictHostKeyChecking=yes", "LogLevel=ERROR"}) {
    command.insert(command.end(), {"-o", option});
  }
  command.insert(command.end(), {"-o", "UserKnownHostsFile=" + host.known_hosts.string(), "-i",
                                 host.identity.string(), host.user + "@" + host.address,
                                 shell_line({arguments, {}, {}, {}})});
  return command;
}

}  // namespace

Result<Lab> lab_up(const LabRequest& request, std::stop_token stop) {
  ORDEAL_TRY(check_request(request));
  ORDEAL_TRY(check_possible(request.kind));
  ORDEAL_TRY(claim(request));
  auto lab = build(request, stop);
  if (lab) return lab;
  Error error = lab.error();
  if (const Status down = lab_down(request.name); !down) {
    error.message += "; and it could not be taken down: " + down.error().message;
  }
  return tl::unexpected(std::move(error));
}

Status lab_down(std::string_view name) {
  ORDEAL_TRY(check_lab_name(name));
  ORDEAL_TRY_ASSIGN(const LabLock lock, LabLock::take());
  ORDEAL_TRY(take_down(name));
  remove_empty_labs_directory();
  return {};
}

Status lab_down_stale() {
  for (const std::string& name : known_labs()) {
    if (lab_owner(name).ownership != LabOwnership::stale) continue;
    ORDEAL_TRY_ASSIGN(const LabLock lock, LabLock::take());
    // Somebody else may have been quicker, and even have made it anew.
    if (lab_owner(name).ownership == LabOwnership::stale) ORDEAL_TRY(take_down(name));
    remove_empty_labs_directory();
  }
  return {};
}

Result<Lab> find_lab(std::string_view name) {
  ORDEAL_TRY(check_lab_name(name));
  const auto file = lab_places(name).state / "lab.json";
  if (access(file.c_str(), R_OK) != 0) {
    return bad_input("there is no lab {0}; make it by `ordeal lab up --name {0}`", name);
  }
  return load_lab(file);
}

bool lab_is_left(const Lab& lab) {
  if (!has_scaffold(lab.kind) && lab.kind != "local") return true;
  std::error_code ignored;
  if (std::filesystem::exists(lab_places(lab.name).state, ignored)) return true;
  // The state is the user's own, and the lab may be another user's.
  if (has_scaffold(lab.kind)) {
    const std::string file = fmt::format("{}/{}", kNetnsDirectory, netns_name(lab.name, "ctl"));
    return access(file.c_str(), F_OK) == 0;
  }
  return std::any_of(lab.hosts.begin(), lab.hosts.end(), [&](const HostSpec& host) {
    return std::filesystem::exists(host.directory, ignored);
  });
}

Result<int> lab_exec(std::string_view name, std::string_view host,
                     const std::vector<std::string>& arguments) {
  if (arguments.empty()) return bad_input("no command given to run on host {}", host);
  ORDEAL_TRY_ASSIGN(const Lab lab, find_lab(name));
  const auto found = std::find_if(lab.hosts.begin(), lab.hosts.end(),
                                  [&](const HostSpec& spec) { return spec.name == host; });
  if (found == lab.hosts.end() && host != "ctl")
    return bad_input("lab {} has no host {}", name, host);
  std::vector<std::string> whole;
  if (lab.kind == "local") {
    const std::string directory = found == lab.hosts.end() ? "." : found->directory.string();
    whole = {"env", "-C", directory};
  } else if (host == "ctl") {
    whole = {"ip", "netns", "exec", netns_name(name, host)};
  } else if (lab.kind == "vm") {
    whole = over_ssh(*found, netns_name(name, "ctl"), arguments);
    return run_in_foreground({whole});
  } else {
    std::string pid = read_file(lab_places(name).state / host / "pid");
    pid = pid.substr(0, pid.find('\n'));
    whole = {"nsenter", "-t", pid, "-m", "-u", "-i", "-n", "-p", "--root", "--wdns=/", "--"};
  }
  whole.insert(whole.end(), arguments.begin(), arguments.end());
  return run_in_foreground({whole});
}

Status enter_control_namespace(const Lab& lab) {
  if (!has_scaffold(lab.kind)) return {};
  const std::string file = fmt::format("{}/{}", kNetnsDirectory, netns_name(lab.name, "ctl"));
  const UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd && setns(fd.get(), CLONE_NEWNET) == 0) return {};
  return surroundings_error("cannot enter the control namespace {} of lab {}: {}", file, lab.name,
                            strerror(errno));
}

}  // namespace ordeal
