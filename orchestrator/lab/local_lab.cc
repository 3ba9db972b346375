#include "orchestrator/lab/local_lab.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "base/random.h"
#include "orchestrator/lab/lab_state.h"
#include "orchestrator/lab/processes.h"
#include "remote/local_host.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kKillTimeout{10'000};

std::string user_name() {
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(geteuid());
}

std::set<std::string> networks_in_use() {
  std::set<std::string> networks;
  for (const std::string& lab : known_labs()) {
    networks.insert(read_file(lab_places(lab).state / "network"));
  }
  return networks;
}

// The first three bytes of the hosts' addresses. Drawn from user and name, so that a lab mostly has
// the same addresses each time, and labs of other users have others. 127.0 is everybody's.
Result<std::string> pick_network(const std::string& name) {
  const auto used = networks_in_use();
  Random random = Random(geteuid()).derive(name);
  for (int attempt = 0; attempt < 10'000; ++attempt) {
    const std::string network =
        fmt::format("127.{}.{}", random.between(1, 254), random.between(0, 255));
    if (!used.contains(network)) return network;
  }
  return surroundings_error("no free loopback network for lab {}", name);
}

}  // namespace

Result<Lab> build_local_lab(const LabRequest& request) {
  const LabPlaces places = lab_places(request.name);
  ORDEAL_TRY_ASSIGN(const std::string network, pick_network(request.name));
  ORDEAL_TRY(write_file(places.state / "network", network));
  Lab lab{"local", request.name, {}, {}, "127.0.0.1"};
  const bool tracing = may_trace();
  int last_byte = 10;
  for (const std::string& host : request.hosts) {
    HostSpec spec;
    spec.name = host;
    spec.address = fmt::format("{}.{}", network, ++last_byte);
    spec.user = user_name();
    spec.local = true;
    spec.directory = places.scratch / host;
    std::error_code error;
    if (!fs::create_directory(spec.directory, error)) {
      return surroundings_error("cannot make {}: {}", spec.directory.string(), error.message());
    }
    lab.hosts.push_back(std::move(spec));
    lab.abilities.push_back({.root = false,
                             .packet_filter = false,
                             .own_clock = false,
                             .faketime = libfaketime_installed(),
                             .netem = false,
                             .tbf = false,
                             .tracing = tracing});
  }
  return lab;
}

Status destroy_local_lab(std::string_view name) {
  const fs::path scratch = lab_places(name).scratch;
  std::vector<std::string> marks;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(scratch, error)) {
    marks.push_back(std::string(kHostDirectoryVariable) + "=" + entry.path().string());
  }
  return kill_all(
      [&](pid_t pid) {
        return serves_in(pid, scratch.string()) ||
               std::any_of(marks.begin(), marks.end(),
                           [pid](const std::string& mark) { return started_with(pid, mark); });
      },
      kKillTimeout);
}

}  // namespace ordeal
