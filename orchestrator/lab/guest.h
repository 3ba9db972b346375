// A guest of `lab: vm` as a process of this machine: the command line of its virtual machine, and
// its power switch. Pure functions.
//
// Whatever runs it, a guest has the same parts: a root file system shared by all guests under a
// layer of its own for what it writes, a disk with a tar archive of the files that make it itself
// (the seed), where wanted a disk for its servers' files, a network card, and a console, which is
// the standard output of its process.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ordeal {

// What runs the guests' kernels: qemu with KVM, qemu alone (its own translation, slow), or
// User-Mode Linux, whose kernel is a program of this machine.
enum class GuestBackend { kvm, tcg, uml };

std::string_view name_of(GuestBackend backend);

struct GuestMachine {
  GuestBackend backend = GuestBackend::uml;
  int memory_mib = 512;
  std::filesystem::path image;      // directory: root.img, vmlinuz, initrd.img
  std::filesystem::path directory;  // its own, kept short: User-Mode Linux has a socket in it
  std::filesystem::path overlay;    // what it writes; qemu wants it to be there
  std::filesystem::path seed;
  std::filesystem::path data;     // disk for the servers' files; "": none
  std::filesystem::path preload;  // User-Mode Linux: see uml_xstate.cc
  std::string device;             // tap device, in the network namespace that it runs in
  std::string mac;
};

std::vector<std::string> guest_command(const GuestMachine& machine);

// The power switch of a guest, a POSIX shell script for its directory, which runs `command` in the
// network namespace. `sh power VERB`, all verbs idempotent and safe side by side:
//   on     boots the guest where it is off, and waits until it is up; the error has the end of its
//          console
//   off    ends it as a power cut does: by SIGKILL, so that what it had not synced is lost
//   state  prints on or off
// The console of this boot is in console.log beside it, that of the boot before in console.before.
std::string power_switch(const std::vector<std::string>& command, std::string_view netns);

// What the init program of a guest says on the console once sshd listens.
inline constexpr std::string_view kGuestIsUp = "ordeal-guest: up";

}  // namespace ordeal
