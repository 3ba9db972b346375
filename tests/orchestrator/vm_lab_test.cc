// Guests that really boot, with whatever backend this machine has.
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "orchestrator/lab/guest_image.h"
#include "remote/process.h"
#include "tests/orchestrator/lab_fixture.h"

namespace ordeal {
namespace {

using Strings = std::vector<std::string>;
using std::chrono::milliseconds;

bool image_or_skip() {
  if (!root_or_skip()) return false;
  const auto image = find_image();
  if (!image) WARN("skipped: " << image.error().message);
  return image.has_value();
}

LabRequest guests(const std::string& name, Strings hosts, bool keep = false) {
  LabRequest request{"vm", name, std::move(hosts), keep};
  request.memory_mib = 256;
  return request;
}

std::string output_of(Host& host, Strings arguments) {
  const auto output = host.run({std::move(arguments), {}, {}, {}}, milliseconds(20'000));
  INFO((output ? output->standard_error : output.error().message));
  REQUIRE(output);
  CHECK(output->exit_status == 0);
  return output->standard_output;
}

void turn(const Host& host, const char* verb) {
  REQUIRE(*run_in_foreground({{"sh", host.spec().power.string(), verb}}) == 0);
}

TEST_CASE("guests have kernels and clocks of their own, and lose what they had not synced") {
  if (!image_or_skip()) return;
  const std::string name = unique_lab("vm");
  {
    const TestLab test(guests(name, {"n1", "n2"}));
    in_control_namespace(test.lab, [&] {
      const Cluster cluster = make_cluster(test.lab);
      Host& n1 = *cluster.find("n1");
      Host& n2 = *cluster.find("n2");
      for (const Host* host : {&n1, &n2}) {
        const HostAbilities& can = host->abilities();
        CHECK((can.root && can.packet_filter && can.own_clock && can.faketime && can.power));
        CHECK((can.netem && can.tbf));
      }
      CHECK(output_of(n1, {"hostname"}) == "n1\n");
      CHECK(output_of(n2, {"sh", "-c", "ping -c 1 -W 5 n1 > /dev/null && echo there"}) ==
            "there\n");
      const std::time_t now = std::time(nullptr);
      output_of(n1, {"date", "-s", "@" + std::to_string(now + 3600)});
      CHECK(std::stol(output_of(n1, {"date", "+%s"})) - now >= 3600);
      CHECK(std::abs(std::stol(output_of(n2, {"date", "+%s"})) - std::time(nullptr)) < 60);
      CHECK(std::time(nullptr) - now < 60);

      output_of(n1, {"sh", "-c",
                     "cd /var/lib/ordeal && echo kept > synced && sync && echo lost > unsynced"});
      turn(n1, "off");
      CHECK_FALSE(n1.preflight(milliseconds(1'500)));
      turn(n1, "on");
      REQUIRE(n1.preflight(milliseconds(20'000)));
      CHECK(output_of(n1, {"cat", "/var/lib/ordeal/synced"}) == "kept\n");
      CHECK(output_of(n1, {"sh", "-c", "cat /var/lib/ordeal/unsynced 2> /dev/null; true"}).empty());
    });
    CHECK(*lab_exec(name, "n2", {"sh", "-c", "test \"$(hostname)\" = n2"}) == 0);
    CHECK(*lab_exec(name, "ctl", {"sh", "-c", "getent hosts n2 > /dev/null"}) == 0);
    CHECK(*lab_exec(name, "n1", {"sh", "-c", "exit 9"}) == 9);
    CHECK_FALSE(leftovers(name).empty());
  }
  CHECK(leftovers(name) == Strings{});
}

TEST_CASE("nothing remains of guests whose builder was killed on the way") {
  if (!image_or_skip()) return;
  const std::string name = unique_lab("vmk");
  for (const int after_ms : {300, 1'500}) {
    in_killed_process(milliseconds(after_ms), [&] {
      static_cast<void>(lab_up(guests(name, {"n1", "n2"}, true)));
    });
    REQUIRE(lab_down_stale());
    if (find_lab(name)) REQUIRE(lab_down(name));
    CHECK(leftovers(name) == Strings{});
  }
}

}  // namespace
}  // namespace ordeal
