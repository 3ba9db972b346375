#include "orchestrator/lab/vm_lab.h"

#include <unistd.h>

#include <functional>
#include <thread>

#include "orchestrator/lab/guest.h"
#include "orchestrator/lab/guest_image.h"
#include "orchestrator/lab/processes.h"
#include "orchestrator/lab/scaffold.h"
#include "orchestrator/lab/uml_xstate_library.h"
#include "orchestrator/lab/vm_backend.h"
#include "remote/abilities.h"
#include "remote/ssh_host.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

// Longer than a power switch waits.
constexpr std::chrono::seconds kBootTimeout{130};
constexpr std::chrono::seconds kLoginTimeout{30};

class VmBuilder {
 public:
  VmBuilder(const LabRequest& request, std::stop_token stop)
      : request_(request), scaffold_(request, std::move(stop)) {}

  Result<Lab> build() {
    ORDEAL_TRY_ASSIGN(image_, find_image());
    ORDEAL_TRY_ASSIGN(backend_, choose_backend(request_.backend, image_, scaffold_.stop()));
    ORDEAL_TRY(scaffold_.build(Scaffold::Plug::tap));
    ORDEAL_TRY(write_file(preload(), uml_xstate_library()));
    Lab lab{"vm", request_.name, {}, {}, std::string(kControlAddress)};
    lab.hosts.resize(request_.hosts.size());
    lab.abilities.resize(request_.hosts.size());
    ORDEAL_TRY(on_each([&](std::size_t host) { return bring_up(host, lab); }));
    return lab;
  }

 private:
  fs::path state(std::size_t host) const { return scaffold_.places().state / request_.hosts[host]; }
  fs::path scratch(std::size_t host) const {
    return scaffold_.places().scratch / request_.hosts[host];
  }
  fs::path preload() const { return scaffold_.places().state / "uml-xstate.so"; }

  // All at once; the first failure counts.
  Status on_each(const std::function<Status(std::size_t)>& step) const {
    std::vector<Status> results(request_.hosts.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < results.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = step(i); });
      }
    }
    for (const Status& result : results) ORDEAL_TRY(result);
    return {};
  }

  // Fills in its place in `lab`.
  Status bring_up(std::size_t host, Lab& lab) const {
    ORDEAL_TRY(prepare(host));
    ORDEAL_TRY(boot(host));
    lab.hosts[host] = spec(host);
    ORDEAL_TRY_ASSIGN(lab.abilities[host], log_in(lab, lab.hosts[host]));
    return {};
  }

  GuestMachine machine(std::size_t host) const {
    GuestMachine machine;
    machine.backend = backend_;
    machine.memory_mib = request_.memory_mib;
    machine.image = image_;
    machine.directory = state(host);
    machine.overlay = scratch(host) / "root.layer";
    machine.seed = state(host) / "seed.tar";
    if (request_.disk_mib != 0) machine.data = scratch(host) / "data.img";
    machine.preload = preload();
    machine.device = scaffold_.device(host);
    machine.mac = fmt::format("52:54:00:4f:52:{:02x}", host + 1);
    return machine;
  }

  HostSpec spec(std::size_t host) const {
    HostSpec spec = scaffold_.spec(host);
    spec.power = state(host) / "power";
    return spec;
  }

  Status prepare(std::size_t host) const {
    const GuestMachine guest = machine(host);
    std::error_code error;
    fs::create_directory(guest.directory / "memory", error);
    ORDEAL_TRY(write_file(guest.directory / "power",
                          power_switch(guest_command(guest), scaffold_.netns("sw"))));
    ORDEAL_TRY(make_seed(host));
    if (backend_ != GuestBackend::uml) {
      ORDEAL_TRY(scaffold_.tool({"qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw", "-b",
                                 (image_ / "root.img").string(), guest.overlay.string()}));
    }
    if (guest.data.empty()) return {};
    return scaffold_.tool(
        {"mke2fs", "-q", "-t", "ext4", guest.data.string(), fmt::format("{}M", request_.disk_mib)});
  }

  // The files that make a guest this one. Their modes are those of the tree.
  Status make_seed(std::size_t host) const {
    static constexpr std::string_view kMakeSeed = R"sh(
set -e
cd "$1"
rm -rf seed
mkdir -p -m 755 seed seed/etc seed/etc/ssh
mkdir -p -m 700 seed/root seed/root/.ssh
install -m 644 "$2/hosts" seed/etc/hosts
install -m 600 host_key seed/etc/ssh/ordeal_host_key
install -m 644 sshd_config seed/etc/ssh/ordeal_sshd_config
install -m 600 "$2/id.pub" seed/root/.ssh/authorized_keys
echo "$3" > seed/etc/hostname
echo "$4" > seed/etc/ordeal-address
( umask 077; tar -c -f seed.tar --owner=root:0 --group=root:0 -C seed etc root )
rm -rf seed
)sh";
    return scaffold_.tool({"sh", "-c", std::string(kMakeSeed), "sh", state(host).string(),
                           scaffold_.places().state.string(), request_.hosts[host],
                           scaffold_.address(host) + "/24"});
  }

  Status boot(std::size_t host) const {
    const auto output = run_process(scaffold_.marked({"sh", spec(host).power.string(), "on"}),
                                    kBootTimeout, scaffold_.stop());
    if (!output) return tl::unexpected(output.error());
    if (output->exit_status == 0) return {};
    return surroundings_error("host {} of lab {} ({}) did not boot: {}", request_.hosts[host],
                              request_.name, name_of(backend_), output->standard_error);
  }

  // From the control node's place, in a thread of its own, since that is for good.
  Result<HostAbilities> log_in(const Lab& lab, const HostSpec& spec) const {
    Result<HostAbilities> found = internal_error("not asked");
    std::jthread([&] {
      found = [&]() -> Result<HostAbilities> {
        ORDEAL_TRY(enter_control_namespace(lab));
        const auto host = make_ssh_host(spec, {});
        ORDEAL_TRY(host->preflight(kLoginTimeout));
        ORDEAL_TRY_ASSIGN(HostAbilities abilities, probe_abilities(*host, scaffold_.stop()));
        abilities.power = true;
        abilities.own_disk = true;
        return abilities;
      }();
    }).join();
    return found;
  }

  const LabRequest& request_;
  const Scaffold scaffold_;
  fs::path image_;
  GuestBackend backend_ = GuestBackend::uml;
};

}  // namespace

Status check_vm_possible() {
  return check_lab_possible(
      "vm", {"flock", "ip", "mke2fs", "mount", "setsid", "ssh", "ssh-keygen", "tar", "unshare"},
      "e2fsprogs, iproute2, openssh-client, tar, util-linux");
}

Result<Lab> build_vm_lab(const LabRequest& request, std::stop_token stop) {
  return VmBuilder(request, std::move(stop)).build();
}

}  // namespace ordeal
