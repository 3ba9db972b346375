#include "orchestrator/lab/vm_backend.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>

#include "orchestrator/lab/scaffold.h"
#include "remote/process.h"
#include "remote/unique_fd.h"

namespace ordeal {
namespace {

constexpr std::chrono::seconds kTrialTimeout{10};
// A kernel without a root file system says so in the end, once all of it has come up.
constexpr std::string_view kCameUp = "Unable to mount root fs";

Status check_installed(std::string_view what, const std::vector<std::string>& programs,
                       std::string_view packages) {
  const std::string missing = missing_tools(programs);
  if (missing.empty()) return {};
  return surroundings_error("{} needs programs that are not installed: {} (packages {})", what,
                            missing, packages);
}

Status check_qemu() {
  return check_installed("qemu", {"qemu-system-x86_64", "qemu-img"}, "qemu-system-x86, qemu-utils");
}

Status check_uml() { return check_installed("User-Mode Linux", {"linux.uml"}, "user-mode-linux"); }

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.empty() ? "nothing" : text.substr(text.rfind('\n') + 1);
}

// coreutils' timeout, so that what the kernel said is there also when it hangs.
Status try_kvm(const std::filesystem::path& image, std::stop_token stop) {
  ORDEAL_TRY(check_qemu());
  const UniqueFd device(open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (!device) return surroundings_error("/dev/kvm cannot be opened: {}", strerror(errno));
  ORDEAL_TRY_ASSIGN(const CommandOutput output, run_process({{"timeout",
                                                              "--signal=KILL",
                                                              std::to_string(kTrialTimeout.count()),
                                                              "qemu-system-x86_64",
                                                              "-nodefaults",
                                                              "-no-user-config",
                                                              "-no-reboot",
                                                              "-machine",
                                                              "pc",
                                                              "-accel",
                                                              "kvm",
                                                              "-cpu",
                                                              "host",
                                                              "-m",
                                                              "256",
                                                              "-display",
                                                              "none",
                                                              "-serial",
                                                              "stdio",
                                                              "-kernel",
                                                              (image / "vmlinuz").string(),
                                                              "-append",
                                                              "console=ttyS0 panic=-1"}},
                                                            2 * kTrialTimeout, std::move(stop)));
  const std::string said = output.standard_output + output.standard_error;
  if (said.find(kCameUp) != std::string::npos) return {};
  return surroundings_error("a kernel does not come up on KVM; it said last: {}", last_line(said));
}

Result<GuestBackend> best_backend(const std::filesystem::path& image, const std::stop_token& stop) {
  const Status kvm = try_kvm(image, stop);
  if (kvm) return GuestBackend::kvm;
  if (kvm.error().kind == ErrorKind::stopped) return tl::unexpected(kvm.error());
  if (check_uml()) return GuestBackend::uml;
  if (check_qemu()) return GuestBackend::tcg;
  return surroundings_error(
      "nothing on this machine runs guests: {}; install qemu-system-x86 and qemu-utils, or "
      "user-mode-linux",
      kvm.error().message);
}

}  // namespace

Result<GuestBackend> choose_backend(std::string_view wanted, const std::filesystem::path& image,
                                    std::stop_token stop) {
  if (wanted == "kvm") {
    ORDEAL_TRY(try_kvm(image, std::move(stop)));
    return GuestBackend::kvm;
  }
  if (wanted == "tcg") {
    ORDEAL_TRY(check_qemu());
    return GuestBackend::tcg;
  }
  if (wanted == "uml") {
    ORDEAL_TRY(check_uml());
    return GuestBackend::uml;
  }
  return best_backend(image, stop);
}

}  // namespace ordeal
