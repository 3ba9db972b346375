#include "orchestrator/lab/guest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "remote/command.h"

namespace ordeal {
namespace {

using Strings = std::vector<std::string>;

// Of a guest's memory, for what User-Mode Linux keeps beside it.
constexpr int kMemoryMarginMib = 64;

// What both kernels are told. What a kernel does not know goes into the environment of init. After
// a panic a guest is gone, as after a power cut. Unused parts of the image need no initialising.
Strings kernel_arguments(const std::string& disk, const GuestMachine& machine) {
  Strings arguments{"root=/dev/" + disk + "a",
                    "rw",
                    "rootflags=noinit_itable",
                    "init=/usr/local/sbin/ordeal-guest-init",
                    "panic=1",
                    "ORDEAL_SEED=/dev/" + disk + "b"};
  if (!machine.data.empty()) arguments.push_back("ORDEAL_DATA=/dev/" + disk + "c");
  return arguments;
}

// Its memory is a file, which may not lie on a disk, and /dev/shm is small in containers: so it
// gets a file system of its own, which nobody else sees and which is gone with it. The shell stays,
// as the first process of the namespace: User-Mode Linux ends a panic by abort(3), which that one
// would survive.
constexpr std::string_view kInOwnMemory = R"(
mount -t tmpfs -o "mode=700,size=$1m" memory "$2" || exit 1
shift 2
"$@"
exit 1
)";

Strings uml_command(const GuestMachine& machine) {
  const std::string memory = (machine.directory / "memory").string();
  Strings command{
      "sh",
      "-c",
      std::string(kInOwnMemory),
      "sh",
      std::to_string(machine.memory_mib + kMemoryMarginMib),
      memory,
      "env",
      "TMPDIR=" + memory,
      "HOME=" + machine.directory.string(),
      "LD_PRELOAD=" + machine.preload.string(),
      "linux.uml",
      fmt::format("mem={}M", machine.memory_mib),
      "umid=guest",
      "uml_dir=" + machine.directory.string(),
      fmt::format("ubd0={},{}", machine.overlay.string(), (machine.image / "root.img").string()),
      "ubd1r=" + machine.seed.string()};
  if (!machine.data.empty()) command.push_back("ubd2=" + machine.data.string());
  command.push_back(fmt::format("vec0:transport=tap,ifname={},depth=128,gro=1,mac={}",
                                machine.device, machine.mac));
  for (const char* console : {"con=null", "con0=null,fd:1", "ssl=null"})
    command.emplace_back(console);
  const Strings of_kernel = kernel_arguments("ubd", machine);
  command.insert(command.end(), of_kernel.begin(), of_kernel.end());
  return command;
}

void add_disk(Strings& command, const std::filesystem::path& file, std::string_view format) {
  static constexpr std::string_view kOptions = ",if=virtio,cache=writeback";
  command.emplace_back("-drive");
  command.push_back(fmt::format("file={},format={}{}", file.string(), format, kOptions));
}

Strings qemu_command(const GuestMachine& machine) {
  const bool kvm = machine.backend == GuestBackend::kvm;
  Strings command{
      "qemu-system-x86_64",
      "-nodefaults",
      "-no-user-config",
      "-no-reboot",
      "-machine",
      "pc",
      "-accel",
      kvm ? "kvm" : "tcg,tb-size=128",
      "-cpu",
      kvm ? "host" : "max",
      "-m",
      std::to_string(machine.memory_mib),
      "-display",
      "none",
      "-serial",
      "stdio",
      "-kernel",
      (machine.image / "vmlinuz").string(),
      "-initrd",
      (machine.image / "initrd.img").string(),
      "-append",
      fmt::format("console=ttyS0 quiet {}", fmt::join(kernel_arguments("vd", machine), " "))};
  add_disk(command, machine.overlay, "qcow2");
  add_disk(command, machine.seed, "raw,readonly=on");
  if (!machine.data.empty()) add_disk(command, machine.data, "raw");
  const Strings devices{
      "-netdev", fmt::format("tap,id=net,ifname={},script=no,downscript=no", machine.device),
      "-device", fmt::format("virtio-net-pci,netdev=net,romfile=,mac={}", machine.mac),
      "-device", "virtio-rng-pci"};
  command.insert(command.end(), devices.begin(), devices.end());
  return command;
}

// A guest is on as long as one of its processes holds the lock `alive`. Who only looks takes it
// shared, and for a moment. @COMMAND@ is one shell line.
constexpr std::string_view kPowerSwitch = R"sh(#!/bin/sh
# Power switch of a guest: sh power on | off | state
set -u
cd "$(dirname "$0")" || exit 1

is_on() { ! flock --shared --nonblock alive true; }

start() {
  [ ! -e console.log ] || mv -f console.log console.before
  (
    exec 9> alive
    flock --wait 5 9 || exit 1
    exec setsid sh -c 'echo $$ > pid; exec "$@"' sh @COMMAND@
  ) < /dev/null > console.log 2>&1 8>&- &
  while ! is_on; do
    kill -0 $! 2> /dev/null || return 0
    sleep 0.01
  done
}

await() {
  tries=0
  until grep -qa '@UP@' console.log; do
    tries=$((tries + 1))
    if ! is_on; then
      why="it ended while it booted"
    elif [ "$tries" -gt 1200 ]; then
      why="it was not up after 120 s"
    else
      sleep 0.1
      continue
    fi
    echo "the guest in $PWD does not boot: $why; its console ends:" >&2
    tr -d '\r\0' < console.log > console.end
    grep 'Kernel panic' console.end >&2
    tail -n 15 console.end >&2
    rm -f console.end
    return 1
  done
}

off() {
  is_on || return 0
  kill -s KILL "$(cat pid)" 2> /dev/null
  flock --shared --wait 10 alive true || { echo "the guest in $PWD survives SIGKILL" >&2; exit 1; }
}

state() {
  if is_on; then echo on; else echo off; fi
}

case ${1-} in
  on)
    exec 8> switch
    flock 8
    is_on || start
    await ;;
  off)
    exec 8> switch
    flock 8
    off ;;
  state) state ;;
  *) echo "usage: sh $0 on | off | state" >&2; exit 64 ;;
esac
)sh";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

}  // namespace

std::string_view name_of(GuestBackend backend) {
  switch (backend) {
    case GuestBackend::kvm:
      return "kvm";
    case GuestBackend::tcg:
      return "tcg";
    case GuestBackend::uml:
      return "uml";
  }
  return "";
}

Strings guest_command(const GuestMachine& machine) {
  return machine.backend == GuestBackend::uml ? uml_command(machine) : qemu_command(machine);
}

std::string power_switch(const Strings& command, std::string_view netns) {
  // Whoever is killed in a PID namespace of its own takes all with it.
  Strings whole{"ip",      "netns", "exec",   std::string(netns), "unshare",
                "--mount", "--pid", "--fork", "--kill-child"};
  whole.insert(whole.end(), command.begin(), command.end());
  const std::string with_command =
      replaced(std::string(kPowerSwitch), "@COMMAND@", shell_line({whole, {}, {}, {}}));
  return replaced(with_command, "@UP@", kGuestIsUp);
}

}  // namespace ordeal
