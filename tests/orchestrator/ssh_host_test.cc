// Hosts over SSH against real sshds, which a netns lab provides.
#include "remote/ssh_host.h"

#include <atomic>
#include <cmath>

#include "remote/abilities.h"
#include "remote/host_facts.h"
#include "remote/process.h"
#include "tests/orchestrator/lab_fixture.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

Command command(std::vector<std::string> arguments, std::string input = {}) {
  return {std::move(arguments), std::move(input), {}, {}};
}

std::string shell_output(Host& host, const std::string& script) {
  const auto output = host.run(command({"sh", "-c", script}));
  return output ? output->standard_output : "error: " + output.error().message;
}

std::string preflight_error(const HostSpec& spec, milliseconds timeout = seconds(5)) {
  const Status status = make_ssh_host(spec, {})->preflight(timeout);
  return status ? "none" : status.error().message;
}

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

TEST_CASE("commands over SSH") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("p"), {"n1"}, false});
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    Host& host = *cluster.hosts()[0];
    REQUIRE(host.preflight(seconds(5)));

    // Status, streams, environment, user, and arguments that a shell would misread.
    auto output =
        host.run({{"sh", "-c", "cat; echo \"$A\" >&2; exit 7"}, "in\n", {{"A", "it's $5"}}, {}});
    REQUIRE(output);
    CHECK(output->exit_status == 7);
    CHECK(output->standard_output == "in\n");
    CHECK(output->standard_error == "it's $5\n");
    output = host.run(command({"printf", "%s|", "", "a b", "$HOME", "'", "\n", "-x", "*"}));
    REQUIRE(output);
    CHECK(output->standard_output == "|a b|$HOME|'|\n|-x|*|");
    output = host.run({{"id", "-un"}, {}, {}, "nobody"});
    REQUIRE(output);
    CHECK(output->standard_output == "nobody\n");
    output = host.run(command({"sh", "-c", "kill -9 $$"}));
    REQUIRE(output);
    CHECK(output->exit_status == 137);
    CHECK(host.run(command({"no-such-program"}))->exit_status == 127);
    CHECK_FALSE(host.run(command({"echo", std::string("a\0b", 3)})));

    // 100 KB each way, and 3 MB, which is more than a channel's window.
    for (const std::size_t size : {100'000U, 3'000'000U}) {
      const std::string data(size, 'x');
      output = host.run(command({"cat"}, data));
      REQUIRE(output);
      CHECK(output->standard_output == data);
    }
    output = host.run(command({"sh", "-c", "exec <&-; echo done"}, std::string(3'000'000, 'x')));
    REQUIRE(output);
    CHECK(output->standard_output == "done\n");

    // A daemon keeps the streams.
    auto begin = Clock::now();
    CHECK(shell_output(host, "sleep 5 & echo started") == "started\n");
    CHECK(Clock::now() - begin < seconds(3));

    // Time-out and stop end the command on the host, too.
    begin = Clock::now();
    output = host.run(command({"sh", "-c", "sleep 611 & sleep 612; true"}), milliseconds(500));
    CHECK(Clock::now() - begin < milliseconds(1500));
    REQUIRE_FALSE(output);
    contains(output.error().message, "did not end within 500 ms");
    contains(output.error().message, "host n1 (root@");
    std::stop_source stop;
    const std::jthread stopper([&] {
      std::this_thread::sleep_for(milliseconds(300));
      stop.request_stop();
    });
    begin = Clock::now();
    output = host.run(command({"sleep", "613"}), seconds(60), stop.get_token());
    CHECK(Clock::now() - begin < milliseconds(1000));
    REQUIRE_FALSE(output);
    CHECK(output.error().kind == ErrorKind::stopped);
    CHECK(shell_output(host, "pgrep -fx 'sleep 61[123]' | wc -l") == "0\n");
  });
}

TEST_CASE("abilities are found by asking the host") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("v"), {"n1"}, false});
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    Host& host = *cluster.hosts()[0];
    const auto abilities = probe_abilities(host);
    REQUIRE(abilities);
    CHECK(abilities->root);
    CHECK(abilities->packet_filter == host.abilities().packet_filter);
    CHECK_FALSE(abilities->own_clock);
    CHECK(abilities->faketime == host.abilities().faketime);
    CHECK(abilities->tbf == host.abilities().tbf);
    CHECK(abilities->netem == host.abilities().netem);
    CHECK(abilities->tracing == host.abilities().tracing);
    CHECK(shell_output(host, "tc qdisc show dev lo | grep -c htb") == "0\n");
    CHECK(shell_output(host, "iptables -w -S | grep -c ordeal") == "0\n");
    // Without iptables there is no packet filter.
    CHECK(shell_output(host, "rm /usr/sbin/iptables; echo gone") == "gone\n");
    CHECK_FALSE(probe_abilities(host)->packet_filter);
  });
}

TEST_CASE("what a host is") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("w"), {"n1"}, false});
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    Host& host = *cluster.hosts()[0];
    const auto facts = gather_facts(host);
    REQUIRE(facts);
    CHECK(facts->system == shell_output(host, ". /etc/os-release; printf %s \"$PRETTY_NAME\""));
    CHECK(facts->kernel.starts_with("Linux "));
    CHECK(facts->login == "root");
    CHECK(facts->root == "root");
    CHECK((facts->iptables == "nft" || facts->iptables == "legacy"));
    CHECK(facts->free_bytes > 1'000'000);
    // The clock is this machine's own.
    CHECK(facts->clock.uncertainty > 0);
    CHECK(facts->clock.uncertainty < 5);
    CHECK(std::abs(facts->clock.seconds) <= facts->clock.uncertainty);
    CHECK(shell_output(host, "rm /usr/sbin/iptables; echo gone") == "gone\n");
    CHECK(gather_facts(host)->iptables == "none");
  });
}

TEST_CASE("a host behind another") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("x"), {"n1", "n2"}, false});
  in_control_namespace(test.lab, [&] {
    HostSpec spec = test.lab.hosts[0];
    const HostSpec& jump = test.lab.hosts[1];
    spec.address = "127.0.0.1";  // where only the way through the command leads to it
    const std::string ssh = "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes -i " +
                            spec.identity.string() + " -o UserKnownHostsFile=";
    const std::string to = " -W " + test.lab.hosts[0].address + ":22 root@" + jump.address;
    spec.proxy_command = ssh + spec.known_hosts.string() + to;
    {
      const auto host = make_ssh_host(spec, {});
      CHECK(shell_output(*host, "hostname") == "n1\n");
      const std::string data(1'000'000, 'x');
      const auto output = host->run(command({"cat"}, data));
      REQUIRE(output);
      CHECK(output->standard_output == data);
    }
    const auto left = run_process({{"pgrep", "-f", "-W " + test.lab.hosts[0].address}}, seconds(5));
    CHECK(left->standard_output.empty());

    spec.proxy_command = ssh + "/dev/null" + to;
    contains(preflight_error(spec), "host n1 (root@127.0.0.1:22 through a jump host, key ");
    contains(preflight_error(spec),
             "on the way through the jump host: Host key verification failed");
    spec.proxy_command = "sleep 60";
    const auto begin = Clock::now();
    contains(preflight_error(spec, milliseconds(500)), "no answer in time");
    CHECK(Clock::now() - begin < seconds(3));
    // The host's own key is checked all the same.
    spec.proxy_command = ssh + spec.known_hosts.string() + to;
    spec.name = "n2";
    contains(preflight_error(spec), "host key has changed");
  });
}

TEST_CASE("50 commands at once on one host") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("q"), {"n1"}, false});
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    Host& host = *cluster.hosts()[0];
    std::atomic<int> good = 0;
    const auto begin = Clock::now();
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 50; ++i) {
        threads.emplace_back([&, i] {
          const std::string text = std::to_string(i);
          const auto output = host.run(command({"sh", "-c", "sleep 0.3; cat"}, text), seconds(60));
          if (output && output->standard_output == text) ++good;
        });
      }
    }
    CHECK(good == 50);
    CHECK(Clock::now() - begin < seconds(12));  // 15 s one after the other, without connecting
  });
}

TEST_CASE("files over SSH") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("r"), {"n1"}, false});
  std::string pattern = "/tmp/ordeal-ssh-test-XXXXXX";
  const fs::path scratch = mkdtemp(pattern.data());
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    Host& host = *cluster.hosts()[0];
    std::string data;
    while (data.size() < 1'048'577) data += std::to_string(data.size()) + '\0';
    std::ofstream(scratch / "a", std::ios::binary) << data;
    fs::permissions(scratch / "a", fs::perms::owner_all);
    REQUIRE(host.upload(scratch / "a", "/root/b"));
    CHECK(shell_output(host, "stat -c '%s %a' /root/b") == std::to_string(data.size()) + " 700\n");
    REQUIRE(host.download("/root/b", scratch / "c"));
    CHECK(contents_of(scratch / "c") == data);
    contains(host.upload(scratch / "a", "/no/such/place").error().message,
             "/no/such/place failed: no such file");
    contains(host.download("/root/none", scratch / "d").error().message, "/root/none");
    CHECK_FALSE(fs::exists(scratch / "d"));
    contains(host.upload(scratch / "none", "/root/x").error().message,
             "cannot read the local file");
    CHECK(shell_output(host, "echo still here") == "still here\n");
  });
  fs::remove_all(scratch);
}

TEST_CASE("whatever is wrong with reaching a host, the message names host and step") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("s"), {"n1", "n2"}, false});
  const HostSpec good = test.lab.hosts[0];
  const fs::path scratch = good.known_hosts.parent_path();
  in_control_namespace(test.lab, [&] {
    REQUIRE(preflight_error(good) == "none");

    HostSpec bad = good;
    bad.address = "no-such-host.invalid";
    contains(preflight_error(bad), "host n1 (root@no-such-host.invalid:22, key " +
                                       good.identity.string() + "): resolving");

    bad = good;
    bad.ssh_port = 23;
    contains(preflight_error(bad), "connecting failed: Connection refused");

    // Nobody there: silence until the time-out, or "no route" once ARP has given up.
    bad = good;
    bad.address = "10.77.0.200";
    const auto begin = Clock::now();
    contains(preflight_error(bad, milliseconds(700)), "connecting failed: ");
    CHECK(Clock::now() - begin < seconds(2));

    // n1's line now has n2's key.
    bad = good;
    bad.known_hosts = scratch / "known_hosts.changed";
    std::string known = contents_of(good.known_hosts);
    const std::string n2_key = known.substr(known.find("\nn2,") + 1);
    std::ofstream(bad.known_hosts) << "n1" << n2_key.substr(n2_key.find(' '));
    const auto printed =
        run_process({{"ssh-keygen", "-lf", scratch / "n1" / "host_key.pub"}}, seconds(5));
    REQUIRE(printed);
    const std::string fingerprint = printed->standard_output.substr(4, 50);
    REQUIRE(fingerprint.starts_with("SHA256:"));
    std::string message = preflight_error(bad);
    contains(message, "host key has changed");
    contains(message, fingerprint);
    contains(message, "ssh-keygen -R n1 -f " + bad.known_hosts.string());

    std::ofstream(bad.known_hosts, std::ios::trunc) << n2_key;
    message = preflight_error(bad);
    contains(message, "host key is not known");
    contains(message, fingerprint);

    bad = good;
    bad.identity = scratch / "n2" / "host_key";  // a key, but nobody's login
    contains(preflight_error(bad), "login failed: the host does not accept this key");
    bad.identity = scratch / "none";
    contains(preflight_error(bad), "login failed: the key file cannot be read");
    bad = good;
    bad.user = "nobody";
    contains(preflight_error(bad), "host n1 (nobody@");
  });
}

TEST_CASE("login by agent") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("t"), {"n1"}, false});
  HostSpec spec = test.lab.hosts[0];
  const std::string key = spec.identity;
  const std::string socket = spec.identity.parent_path() / "agent";
  spec.identity.clear();
  const auto agent = run_process({{"ssh-agent", "-s", "-a", socket}}, seconds(5));
  REQUIRE(agent);
  const std::size_t at = agent->standard_output.find("AGENT_PID=");
  REQUIRE(at != std::string::npos);
  const pid_t pid = std::stoi(agent->standard_output.substr(at + 10));
  setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
  in_control_namespace(test.lab, [&] {
    contains(preflight_error(spec), "login failed: the host accepts no key of the agent");
    CHECK(run_process_checked({{"ssh-add", "-q", key}}, seconds(5)));
    CHECK(preflight_error(spec) == "none");
  });
  unsetenv("SSH_AUTH_SOCK");
  kill(pid, SIGKILL);
}

// In the host: ends the sshd that listens and those of all connections, and starts it anew.
const std::string kRestartSshd =
    "daemon=$(cat /run/sshd/pid); kill -KILL $(cat /proc/$daemon/task/$daemon/children) $daemon; "
    "exec /usr/sbin/sshd -f /etc/ssh/ordeal_sshd_config";

TEST_CASE("a host is reached again after sshd was restarted, and after a partition") {
  if (!root_or_skip()) return;
  const TestLab test({"netns", unique_lab("u"), {"n1"}, false});
  in_control_namespace(test.lab, [&] {
    const Cluster cluster = make_cluster(test.lab);
    Host& host = *cluster.hosts()[0];
    CHECK(shell_output(host, "echo 1") == "1\n");

    // All of sshd dies, the pooled connection with it; in the middle of a command that is an error.
    const auto during = host.run(command(
        {"sh", "-c", "(sleep 0.3; " + kRestartSshd + ") > /dev/null 2>&1 < /dev/null & sleep 5"}));
    REQUIRE_FALSE(during);
    contains(during.error().message, "whether `sh -c ");
    std::this_thread::sleep_for(milliseconds(300));
    CHECK(shell_output(host, "echo 2") == "2\n");
    // Idle connections die: nobody notices.
    CHECK(*lab_exec(test.lab.name, "n1", {"sh", "-c", kRestartSshd}) == 0);
    // sshd listens only after its starter has returned.
    for (int i = 0; i < 50 && shell_output(host, "echo 3") != "3\n"; ++i) {
      std::this_thread::sleep_for(milliseconds(20));
    }
    CHECK(shell_output(host, "echo 3") == "3\n");

    if (!test.lab.abilities[0].packet_filter) return;
    const auto filter = [&](const char* action) {
      return *lab_exec(
          test.lab.name, "n1",
          {"iptables", "-w", action, "INPUT", "-p", "tcp", "--dport", "22", "-j", "DROP"});
    };
    CHECK(filter("-A") == 0);
    const auto begin = Clock::now();
    CHECK_FALSE(host.run(command({"true"}), milliseconds(800)));
    CHECK(Clock::now() - begin < seconds(2));
    CHECK(filter("-D") == 0);
    CHECK(shell_output(host, "echo 4") == "4\n");
  });
}

}  // namespace
}  // namespace ordeal
