// Life and death of labs. What their hosts can do over SSH: ssh_host_test.cc.
#include "orchestrator/lab/lab.h"

#include <sched.h>

#include <cstdlib>
#include <set>

#include "orchestrator/lab/processes.h"
#include "tests/orchestrator/lab_fixture.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Strings = std::vector<std::string>;

CommandOutput run_on(Host& host, Strings arguments) {
  const auto output = host.run({std::move(arguments), {}, {}, {}});
  INFO((output ? std::string() : output.error().message));
  REQUIRE(output);
  return *output;
}

TEST_CASE("hosts of a netns lab are separate machines, as far as namespaces go") {
  if (!root_or_skip()) return;
  const std::string name = unique_lab("a");
  const auto begin = Clock::now();
  {
    const TestLab test({"netns", name, {"n1", "n2"}, false});
    CHECK(Clock::now() - begin < seconds(10));
    in_control_namespace(test.lab, [&] {
      const Cluster cluster = make_cluster(test.lab);
      CHECK(cluster.control_address == "10.77.0.1");
      Host& n1 = *cluster.find("n1");
      Host& n2 = *cluster.find("n2");
      CHECK(run_on(n1, {"hostname"}).standard_output == "n1\n");
      CHECK(run_on(n2, {"hostname"}).standard_output == "n2\n");
      CHECK(run_on(n1, {"cat", "/proc/1/comm"}).standard_output == "bash\n");
      CHECK(run_on(n1, {"test", "-d", test.lab.hosts[0].directory}).exit_status == 0);
      for (const char* directory :
           {"/tmp", "/run", "/dev/shm", "/usr", "/etc", "/var/lib", "/root"}) {
        CHECK(run_on(n1, {"touch", std::string(directory) + "/ordeal-test-file"}).exit_status == 0);
        CHECK(
            run_on(n2, {"test", "-e", std::string(directory) + "/ordeal-test-file"}).exit_status ==
            1);
        CHECK_FALSE(fs::exists(std::string(directory) + "/ordeal-test-file"));
      }
      // The clock is the machine's. Setting it to what it is would do no harm if it were allowed.
      CHECK(run_on(n1, {"sh", "-c", "date -s \"$(date '+%F %T')\""}).exit_status != 0);
      CHECK(run_on(n1, {"bash", "-c", "exec 3<> /dev/tcp/n2/22"}).exit_status == 0);
      CHECK(n1.abilities().root);
      CHECK_FALSE(n1.abilities().own_clock);
    });
    CHECK(*lab_exec(name, "n2", {"sh", "-c", "test \"$(hostname)\" = n2"}) == 0);
    CHECK(*lab_exec(name, "ctl", {"sh", "-c", "getent hosts n2 > /dev/null"}) == 0);
    CHECK(*lab_exec(name, "n1", {"sh", "-c", "exit 9"}) == 9);
    CHECK_FALSE(lab_exec(name, "n7", {"true"}));
    CHECK_FALSE(leftovers(name).empty());  // the search would find something
    const auto again = lab_up({"netns", name, {"n1"}, false});
    REQUIRE_FALSE(again);
    CHECK(again.error().message.find("in use by process " + std::to_string(getpid())) !=
          std::string::npos);
    REQUIRE(lab_down(name));
    CHECK(leftovers(name) == Strings{});
    CHECK(lab_down(name));
  }
  CHECK(leftovers(name) == Strings{});
}

TEST_CASE("packet filters of one host leave the others alone") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("f"), {"n1", "n2"}, false});
  if (!test.lab.abilities[0].packet_filter) {
    WARN("skipped: iptables does not work in namespaces of this machine");
    return;
  }
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    run_on(*cluster.find("n1"),
           {"iptables", "-w", "-A", "INPUT", "-p", "tcp", "--dport", "99", "-j", "DROP"});
    CHECK(run_on(*cluster.find("n1"), {"iptables", "-w", "-S"}).standard_output.find("99") !=
          std::string::npos);
    CHECK(run_on(*cluster.find("n2"), {"iptables", "-w", "-S"}).standard_output.find("99") ==
          std::string::npos);
  });
}

TEST_CASE("two netns labs at once do not meet") {
  if (!root_or_skip()) return;
  const std::string first = unique_lab("b");
  const std::string second = unique_lab("b-n1");  // named to be mistaken for hosts of the first
  Strings up(2);
  {
    const auto bring_up = [](const std::string& name, std::string& result) {
      const auto lab = lab_up({"netns", name, {"n1", "n2"}, false});
      result = lab ? "up" : lab.error().message;
    };
    const std::jthread a([&] { bring_up(first, up[0]); });
    const std::jthread b([&] { bring_up(second, up[1]); });
  }
  CHECK(up == Strings{"up", "up"});
  const auto marks_itself = [&](const std::string& name) {
    const auto lab = find_lab(name);
    REQUIRE(lab);
    in_control_namespace(*lab, [&] {
      const Cluster cluster = make_cluster(*lab);
      CHECK(run_on(*cluster.find("n1"),
                   {"sh", "-c", "cat /root/mark; echo " + name + " >> /root/mark"})
                .standard_output.empty());
      CHECK(run_on(*cluster.find("n1"), {"cat", "/root/mark"}).standard_output == name + "\n");
    });
  };
  marks_itself(first);
  marks_itself(second);
  REQUIRE(lab_down(first));
  CHECK_FALSE(leftovers(second).empty());
  CHECK(*lab_exec(second, "n2", {"true"}) == 0);
  REQUIRE(lab_down(second));
  CHECK(leftovers(first) == Strings{});
}

TEST_CASE("what stops being readable while it is read is empty, as files of processes that end") {
  CHECK(read_file("/proc/self/mem").empty());  // page 0 is not mapped: opens, and then fails
  CHECK(read_file("/proc/self/nothing").empty());
  CHECK_FALSE(read_file("/proc/self/stat").empty());
}

TEST_CASE("nothing remains of a lab whose builder was killed on the way") {
  if (!root_or_skip()) return;
  const std::string name = unique_lab("c");
  for (const int after_ms : {5, 20, 50, 100, 200, 300, 450, 600, 900}) {
    in_killed_process(milliseconds(after_ms), [&] {
      static_cast<void>(lab_up({"netns", name, {"n1", "n2", "n3"}, true}));
    });
    INFO("killed after " << after_ms << " ms");
    // A lab that was complete is kept, and is not stale.
    REQUIRE(lab_down_stale());
    if (find_lab(name)) REQUIRE(lab_down(name));
    CHECK(leftovers(name) == Strings{});
  }
}

TEST_CASE("a lab whose owner was killed is stale; one that is kept or in use is not") {
  if (!root_or_skip()) return;
  const TestLab kept({"netns", unique_lab("d"), {"n1"}, true});
  const TestLab used({"netns", unique_lab("e"), {"n1"}, false});
  const std::string name = unique_lab("g");
  in_killed_process(seconds(6), [&] {
    const auto lab = lab_up({"netns", name, {"n1", "n2"}, false});
    // The owner also had moved, and left a process behind in the control namespace.
    if (lab) static_cast<void>(enter_control_namespace(*lab));
    if (fork() == 0) execlp("sleep", "sleep", "600", nullptr);
  });
  CHECK_FALSE(leftovers(name).empty());
  REQUIRE(lab_down_stale());
  CHECK(leftovers(name) == Strings{});
  CHECK(*lab_exec(kept.lab.name, "n1", {"true"}) == 0);
  CHECK(*lab_exec(used.lab.name, "n1", {"true"}) == 0);
}

TEST_CASE("a request to stop ends the building of a lab and leaves nothing") {
  if (!root_or_skip()) return;
  const std::string name = unique_lab("h");
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(150));
    stop.request_stop();
  });
  const auto lab = lab_up({"netns", name, {"n1", "n2", "n3", "n4"}, false}, stop.get_token());
  REQUIRE_FALSE(lab);
  CHECK(leftovers(name) == Strings{});
}

TEST_CASE("a host that does not boot is named, with its words, and nothing is left") {
  if (!root_or_skip()) return;
  const std::string name = unique_lab("i");
  // A broken machine, for this process and what it starts: a program that hosts need when they
  // boot.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string file = "/tmp/" + name + "-install";
    std::ofstream(file) << "#!/bin/sh\necho broken install >&2\nexit 1\n";
    fs::permissions(file, fs::perms::owner_all);
    const std::string mounts =
        "mount --make-rprivate / && mount --bind " + file + " /usr/bin/install";
    bool good = unshare(CLONE_NEWNS) == 0 && std::system(mounts.c_str()) == 0;
    const auto lab = lab_up({"netns", name, {"n1"}, false});
    good = good && !lab && lab.error().message.find("host n1") != std::string::npos &&
           lab.error().message.find("broken install") != std::string::npos;
    fs::remove(file);
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(leftovers(name) == Strings{});
}

TEST_CASE(
    "local labs have addresses and directories of their own, and take their servers with them") {
  const std::string name = unique_lab("j");
  const TestLab first({"local", name, {"n1", "n2", "n3"}, false});
  const TestLab second({"local", unique_lab("k"), {"n1", "n2"}, false});
  std::set<std::string> addresses;
  for (const Lab* lab : {&first.lab, &second.lab}) {
    for (const HostSpec& host : lab->hosts) {
      addresses.insert(host.address);
      CHECK(host.address.starts_with("127."));
      CHECK(fs::is_directory(host.directory));
    }
  }
  CHECK(addresses.size() == 5);
  const Cluster cluster = make_cluster(first.lab);
  CHECK(cluster.for_each([](Host& host) { return host.preflight(seconds(5)); }));
  // Two daemons: one known by its environment, one only by where it works.
  const std::string directory = first.lab.hosts[0].directory;
  Host& n1 = *cluster.find("n1");
  run_on(n1, {"sh", "-c", "setsid sleep 601 > /dev/null 2>&1 < /dev/null & echo $!"});
  run_on(n1,
         {"sh", "-c",
          "cd " + directory + " && env -i setsid sleep 602 > /dev/null 2>&1 < /dev/null & true"});
  CHECK(leftovers(name).size() >= 3);
  REQUIRE(lab_down(name));
  CHECK(leftovers(name) == Strings{});
  CHECK(make_cluster(second.lab).find("n1")->preflight(seconds(5)));
}

TEST_CASE("a local lab whose owner was killed is stale") {
  const std::string name = unique_lab("l");
  in_killed_process(seconds(1), [&] {
    const auto lab = lab_up({"local", name, {"n1"}, false});
    if (!lab) _exit(1);
    const Cluster cluster = make_cluster(*lab);
    static_cast<void>(cluster.hosts()[0]->run(
        {{"sh", "-c", "setsid sleep 603 > /dev/null 2>&1 < /dev/null &"}, {}, {}, {}}));
  });
  CHECK(leftovers(name).size() >= 2);
  REQUIRE(lab_down_stale());
  CHECK(leftovers(name) == Strings{});
}

TEST_CASE("a lab is left until it is taken down, and messages name commands that exist") {
  const std::string name = unique_lab("q");
  const auto lab = lab_up({"local", name, {"n1"}, true});
  REQUIRE(lab);
  CHECK(lab_is_left(*lab));
  const auto again = lab_up({"local", name, {"n1"}, true});
  REQUIRE_FALSE(again);
  CHECK(again.error().message.find("`ordeal lab down --name " + name + "`") != std::string::npos);
  REQUIRE(lab_down(name));
  CHECK_FALSE(lab_is_left(*lab));
  CHECK_FALSE(lab_is_left({"netns", name, {}, {}, ""}));
  CHECK(lab_is_left({"inventory", name, {}, {}, ""}));
  CHECK(find_lab(name).error().message.find("`ordeal lab up --name " + name + "`") !=
        std::string::npos);
  CHECK(leftovers(name) == Strings{});
}

TEST_CASE("a lab's description survives a file") {
  const std::string name = unique_lab("m");
  const TestLab test({"local", name, {"n1", "n2"}, false});
  const fs::path file = test.lab.hosts[0].directory / "lab.json";
  REQUIRE(save_lab(test.lab, file));
  const auto loaded = load_lab(file);
  REQUIRE(loaded);
  CHECK(loaded->kind == "local");
  CHECK(loaded->name == name);
  CHECK(loaded->control_address == test.lab.control_address);
  REQUIRE(loaded->hosts.size() == 2);
  CHECK(loaded->hosts[1].name == "n2");
  CHECK(loaded->hosts[1].address == test.lab.hosts[1].address);
  CHECK(loaded->hosts[1].directory == test.lab.hosts[1].directory);
  CHECK(loaded->hosts[1].local);
  CHECK(loaded->abilities[1].faketime == test.lab.abilities[1].faketime);
  std::ofstream(file) << "{\"kind\": 3}";
  CHECK(load_lab(file).error().kind == ErrorKind::bad_input);
  CHECK(load_lab("/nonexistent/lab.json").error().message.find("/nonexistent/lab.json") !=
        std::string::npos);
}

TEST_CASE("requests that make no sense are refused by name") {
  const auto refusal = [](const LabRequest& request) {
    const auto lab = lab_up(request);
    return lab ? std::string("accepted") : lab.error().message;
  };
  CHECK(refusal({"netns", "Bad_Name", {"n1"}, false}).find("`Bad_Name`") != std::string::npos);
  CHECK(refusal({"netns", "../x", {"n1"}, false}).find("`../x`") != std::string::npos);
  CHECK(refusal({"moon", "x", {"n1"}, false}).find("`moon`") != std::string::npos);
  CHECK(refusal({"local", "x", {}, false}).find("no hosts") != std::string::npos);
  CHECK(refusal({"local", "x", {"n-1"}, false}).find("`n-1`") != std::string::npos);
  CHECK(refusal({"local", "x", {"n1", "n1"}, false}).find("twice") != std::string::npos);
  CHECK(refusal({"local", "x", {"ctl"}, false}).find("`ctl`") != std::string::npos);
  CHECK(find_lab("no-such-lab").error().message.find("no-such-lab") != std::string::npos);
}

TEST_CASE("without root a netns lab is refused, with what to do; a local one works") {
  const std::string name = unique_lab("o");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) _exit(9);
    const auto netns = lab_up({"netns", name, {"n1"}, false});
    if (netns || netns.error().message != "lab netns needs root; run as root or use lab: local") {
      _exit(1);
    }
    const auto local = lab_up({"local", name, {"n1"}, false});
    if (!local || !make_cluster(*local).hosts()[0]->preflight(seconds(5))) _exit(2);
    _exit(lab_down(name) ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(leftovers(name) == Strings{});
}

}  // namespace
}  // namespace ordeal
