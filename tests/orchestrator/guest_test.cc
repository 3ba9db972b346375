// The pure parts of `lab: vm`: command lines and recipes; and power switches, on a program that
// stands for a guest.
#include "orchestrator/lab/guest.h"

#include <stdlib.h>

#include <algorithm>

#include "orchestrator/lab/guest_image.h"
#include "orchestrator/lab/vm_backend.h"
#include "remote/process.h"
#include "tests/orchestrator/lab_fixture.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;
using std::chrono::milliseconds;

GuestMachine machine(GuestBackend backend) {
  GuestMachine machine;
  machine.backend = backend;
  machine.memory_mib = 300;
  machine.image = "/images/i";
  machine.directory = "/labs/l/n1";
  machine.overlay = "/scratch/n1/root.layer";
  machine.seed = "/labs/l/n1/seed.tar";
  machine.preload = "/labs/l/uml-xstate.so";
  machine.device = "p1";
  machine.mac = "52:54:00:00:00:01";
  return machine;
}

bool has(const Strings& command, const std::string& argument) {
  return std::find(command.begin(), command.end(), argument) != command.end();
}

TEST_CASE("a guest of User-Mode Linux has its layer, its seed, its card and its own memory") {
  GuestMachine guest = machine(GuestBackend::uml);
  const Strings command = guest_command(guest);
  for (const char* argument :
       {"linux.uml", "mem=300M", "ubd0=/scratch/n1/root.layer,/images/i/root.img",
        "ubd1r=/labs/l/n1/seed.tar", "root=/dev/ubda", "ORDEAL_SEED=/dev/ubdb", "panic=1",
        "LD_PRELOAD=/labs/l/uml-xstate.so", "TMPDIR=/labs/l/n1/memory",
        "vec0:transport=tap,ifname=p1,depth=128,gro=1,mac=52:54:00:00:00:01"}) {
    CAPTURE(argument);
    CHECK(has(command, argument));
  }
  CHECK_FALSE(has(command, "ORDEAL_DATA=/dev/ubdc"));
  guest.data = "/scratch/n1/data.img";
  CHECK(has(guest_command(guest), "ubd2=/scratch/n1/data.img"));
  CHECK(has(guest_command(guest), "ORDEAL_DATA=/dev/ubdc"));
}

TEST_CASE("a guest of qemu has the same parts, and is gone after a panic") {
  GuestMachine guest = machine(GuestBackend::kvm);
  guest.data = "/scratch/n1/data.img";
  const Strings command = guest_command(guest);
  CHECK(command.front() == "qemu-system-x86_64");
  for (const char* argument :
       {"-no-reboot", "kvm", "300", "/images/i/vmlinuz", "/images/i/initrd.img",
        "file=/scratch/n1/root.layer,format=qcow2,if=virtio,cache=writeback",
        "file=/labs/l/n1/seed.tar,format=raw,readonly=on,if=virtio,cache=writeback",
        "file=/scratch/n1/data.img,format=raw,if=virtio,cache=writeback",
        "tap,id=net,ifname=p1,script=no,downscript=no"}) {
    CAPTURE(argument);
    CHECK(has(command, argument));
  }
  CHECK(std::any_of(command.begin(), command.end(), [](const std::string& argument) {
    return argument.find("panic=1 ORDEAL_SEED=/dev/vdb ORDEAL_DATA=/dev/vdc") != std::string::npos;
  }));
  guest.backend = GuestBackend::tcg;
  CHECK(has(guest_command(guest), "tcg,tb-size=128"));
  CHECK_FALSE(has(guest_command(guest), "kvm"));
}

TEST_CASE("another recipe is another image") {
  const std::string recipe = image_recipe({"6.1.99"});
  CHECK(recipe.find("postgresql-15") != std::string::npos);
  CHECK(recipe.find("for version in 6.1.99; do") != std::string::npos);
  CHECK(recipe.find(kGuestIsUp) != std::string::npos);
  CHECK(recipe.find("@U") == std::string::npos);
  CHECK(image_recipe({"6.1.99"}) == recipe);
  CHECK(image_directory(recipe) == image_directory(recipe));
  CHECK(image_directory(recipe) != image_directory(image_recipe({"6.1.100"})));
}

TEST_CASE("the recipe is a script without mistakes of syntax") {
  CHECK(run_process_checked({{"bash", "-n"}, image_recipe({"6.1.99"})}, milliseconds(5'000)));
}

TEST_CASE("images are kept in the user's cache, wherever that is") {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", "/var/cache/me", 1);
  CHECK(images_directory() == "/var/cache/me/ordeal/images");
  const auto image = find_image();
  REQUIRE_FALSE(image);
  CHECK(image.error().message.find("`ordeal lab image`") != std::string::npos);
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  CHECK(images_directory().string().ends_with("/.cache/ordeal/images"));
  if (before == nullptr) {
    unsetenv("XDG_CACHE_HOME");
  } else {
    setenv("XDG_CACHE_HOME", saved.c_str(), 1);
  }
}

// A network namespace and a directory with a power switch for `guest`, a shell script.
struct Switch {
  explicit Switch(const std::string& guest) {
    REQUIRE(mkdtemp(directory.data()) != nullptr);
    REQUIRE(run({"ip", "netns", "add", netns}).exit_status == 0);
    std::ofstream(directory + "/power") << power_switch({"sh", "-c", guest}, netns);
  }
  ~Switch() {
    static_cast<void>(run({"sh", directory + "/power", "off"}));
    static_cast<void>(run({"ip", "netns", "delete", netns}));
    fs::remove_all(directory);
  }
  static CommandOutput run(Strings arguments) {
    const auto output = run_process({std::move(arguments)}, milliseconds(20'000));
    REQUIRE(output);
    return *output;
  }
  CommandOutput turn(const char* verb) const { return run({"sh", directory + "/power", verb}); }
  std::string console() const { return contents_of(directory + "/console.log"); }

  std::string netns = unique_lab("switch");
  std::string directory = "/tmp/ordeal-power-XXXXXX";
};

TEST_CASE("a power switch boots a guest, and cuts its power with all that it started") {
  if (!root_or_skip()) return;
  const Switch power("sleep 600 & sleep 0.2; echo 'ordeal-guest: up'; wait");
  CHECK(power.turn("state").standard_output == "off\n");
  CHECK(power.turn("off").exit_status == 0);
  CHECK(power.turn("on").exit_status == 0);
  CHECK(power.console() == "ordeal-guest: up\n");
  CHECK(power.turn("state").standard_output == "on\n");
  const std::string pid = contents_of(power.directory + "/pid");
  CHECK(power.turn("on").exit_status == 0);  // nothing happens
  CHECK(contents_of(power.directory + "/pid") == pid);
  CHECK(power.turn("off").exit_status == 0);
  CHECK(power.turn("state").standard_output == "off\n");
  CHECK(power.turn("on").exit_status == 0);
  CHECK(contents_of(power.directory + "/console.before") == "ordeal-guest: up\n");
}

TEST_CASE("a guest that does not boot is told, with the end of its console") {
  if (!root_or_skip()) return;
  const Switch power("echo 'Kernel panic - not syncing: no init'; exit 1");
  const CommandOutput output = power.turn("on");
  CHECK(output.exit_status == 1);
  CHECK(output.standard_error.find("it ended while it booted") != std::string::npos);
  CHECK(output.standard_error.find("Kernel panic - not syncing: no init\n") != std::string::npos);
  CHECK(power.turn("state").standard_output == "off\n");
}

TEST_CASE("two that switch a guest on at once boot it once") {
  if (!root_or_skip()) return;
  const Switch power("echo booted >> \"$0.times\"; echo 'ordeal-guest: up'; exec sleep 600");
  {
    const std::jthread other([&] { power.turn("on"); });
    CHECK(power.turn("on").exit_status == 0);
  }
  CHECK_FALSE(fs::exists(power.directory + "/console.before"));
  CHECK(power.turn("state").standard_output == "on\n");
}

}  // namespace
}  // namespace ordeal
