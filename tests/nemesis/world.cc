#include "world.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <map>
#include <thread>

#include "nemesis/needs.h"
#include "nemesis/plan.h"
#include "remote/abilities.h"
#include "remote/local_host.h"

namespace ordeal {
namespace {

constexpr const char* kFaketime = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

// Answers each connection to either port with its wall clock, once its file is synced.
constexpr const char* kServer = R"(
import os, selectors, signal, socket, sys, time
signal.alarm(300)  # where the test is killed
file = os.open(sys.argv[0], os.O_RDONLY)
selector = selectors.DefaultSelector()
for port in (int(sys.argv[2]), int(sys.argv[2]) + 1):
    listener = socket.create_server((sys.argv[1], port), backlog=64)
    selector.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in selector.select():
        connection, _ = key.fileobj.accept()
        os.fdatasync(file)
        connection.sendall(b"%.3f\n" % time.time())
        connection.close()
)";

// $1 is the directory, $2 address, $3 port. A zombie has no command line, and does not count.
constexpr const char* kAlive = R"sh(
alive() { [ -e "$1/pid" ] && grep -qF "$1/server.py" "/proc/$(cat "$1/pid")/cmdline" 2>/dev/null; }
)sh";
constexpr const char* kStart = R"sh(
alive "$1" && exit 0
setsid /usr/bin/python3 "$1/server.py" "$2" "$3" </dev/null >"$1/log" 2>&1 &
echo $! > "$1/pid"
)sh";
constexpr const char* kSignal = R"sh(
alive "$1" && kill -s "$2" "$(cat "$1/pid")"
exit 0
)sh";

constexpr const char* kStop = R"sh(
alive "$1" || exit 0
kill -s TERM "$(cat "$1/pid")"
for try in $(seq 50); do alive "$1" || exit 0; sleep 0.02; done
exit 1
)sh";
constexpr const char* kState = R"sh(
alive "$1" || { echo absent; exit; }
case $(sed 's/.*) //' "/proc/$(cat "$1/pid")/stat") in T*) echo stopped ;; *) echo running ;; esac
)sh";
constexpr const char* kAge = R"sh(
alive "$1" || exit 1
ps -o etimes= -p "$(cat "$1/pid")"
)sh";
constexpr const char* kProcesses = R"sh(
if alive "$1"; then cat "$1/pid"; fi
)sh";
constexpr const char* kCommit = R"sh(
answer=$(timeout 2 bash -c 'exec 3<>/dev/tcp/$0/$1; cat <&3' "$2" "$3") && [ -n "$answer" ]
)sh";
constexpr const char* kClock = R"sh(
there=$(timeout 1 bash -c 'exec 3<>/dev/tcp/$0/$1; cat <&3' "$2" "$3") && [ -n "$there" ] || exit 1
here=$(date +%s.%N)
awk "BEGIN { printf \"%+.3f\n\", $there - $here }"
)sh";

// A local host whose commands run in a network namespace.
class NamespaceHost : public Host {
 public:
  NamespaceHost(std::unique_ptr<Host> local, std::string name_space)
      : local_(std::move(local)), namespace_(std::move(name_space)) {}

  const HostSpec& spec() const override { return local_->spec(); }
  const HostAbilities& abilities() const override { return local_->abilities(); }
  Status preflight(std::chrono::milliseconds timeout) override {
    return local_->preflight(timeout);
  }
  Result<CommandOutput> run(const Command& inner, std::chrono::milliseconds timeout,
                            std::stop_token stop) override {
    Command outer = command({"ip", "netns", "exec", namespace_, "sh", "-c", shell_line(inner)});
    outer.standard_input = inner.standard_input;
    return local_->run(outer, timeout, std::move(stop));
  }
  Status upload(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return local_->upload(from, to);
  }
  Status download(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return local_->download(from, to);
  }

 private:
  std::unique_ptr<Host> local_;
  std::string namespace_;
};

// In a network that is gone with the process.
bool has_queue(const std::string& queue) {
  static std::map<std::string, bool> known;
  if (const auto found = known.find(queue); found != known.end()) return found->second;
  const std::string line = "unshare -n tc qdisc add dev lo root " + queue + " 2>/dev/null";
  return known[queue] = std::system(line.c_str()) == 0;
}

bool may_trace() {
  static const bool may = std::system(kTracingProbe.data()) == 0;
  return may;
}

std::unique_ptr<Host> local_host(const std::filesystem::path& directory, bool root,
                                 std::string name = "n1") {
  HostSpec spec;
  spec.name = std::move(name);
  spec.address = "127.0.0.1";
  spec.local = true;
  spec.directory = directory;
  return make_local_host(spec, {.root = root,
                                .packet_filter = root,
                                .own_clock = false,
                                .faketime = std::filesystem::exists(kFaketime),
                                .netem = root && has_queue("netem delay 1ms"),
                                .tbf = root && has_queue("tbf rate 1mbit burst 32k latency 1s"),
                                .own_disk = root,
                                .tracing = may_trace()});
}

std::string output_of(Host& host, const Command& asked) {
  auto output = host.run(asked);
  return output ? output->standard_output : output.error().message;
}

void must(Host& host, std::vector<std::string> arguments) {
  const auto output = run_checked(host, command(std::move(arguments)));
  INFO((output ? "" : output.error().message));
  REQUIRE(output);
}

bool becomes(const std::function<bool()>& condition, std::chrono::milliseconds within) {
  const auto end = std::chrono::steady_clock::now() + within;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

}  // namespace

World::World() : namespaces_(geteuid() == 0) {
  std::string name = "/tmp/ordeal-nemesis-XXXXXX";
  REQUIRE(mkdtemp(name.data()) != nullptr);
  directory_ = name;
  run_id_ = fmt::format("t{}", getpid());
  port_ = 20000 + (getpid() % 10000) * 2;
  try {
    set_up();
  } catch (...) {  // a REQUIRE that failed: no destructor runs
    tear_down();
    throw;
  }
}

World::~World() { tear_down(); }

void World::set_up() {
  std::filesystem::create_directory(server_directory());
  if (namespaces_) {
    make_namespaces();
    must(*local_host(directory_, true),
         {"mount", "-t", "tmpfs", "-o", "size=4m", "ordeal-test", server_directory().string()});
  }
  std::vector<std::unique_ptr<Host>> hosts;
  hosts.push_back(local_host(directory_, namespaces_));
  hosts.push_back(local_host(directory_, namespaces_, std::string(kControlNode)));
  if (namespaces_) {
    hosts[0] = std::make_unique<NamespaceHost>(std::move(hosts[0]), run_id_ + "-db");
    hosts[1] = std::make_unique<NamespaceHost>(std::move(hosts[1]), run_id_ + "-ctl");
  }
  cluster_ = std::make_unique<Cluster>(std::move(hosts));
  cluster_->control_address = client_;
  write_server();
  REQUIRE(run_checked(this->host(), control().start));
  REQUIRE(becomes_healthy());
}

void World::tear_down() {
  if (cluster_) {
    (void)host().run(control().resume);
    (void)host().run(control().kill);
  }
  if (namespaces_) {
    const auto machine = local_host(directory_, namespaces_);
    (void)machine->run(command({"ip", "netns", "delete", run_id_ + "-db"}));
    (void)machine->run(command({"ip", "netns", "delete", run_id_ + "-ctl"}));
    (void)machine->run(command({"umount", "-l", server_directory().string()}));
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void World::make_namespaces() {
  const auto machine = local_host(directory_, true);
  const std::string db = run_id_ + "-db";
  const std::string ctl = run_id_ + "-ctl";
  client_ = "10.99.0.1";
  address_ = "10.99.0.2";
  must(*machine, {"ip", "netns", "add", ctl});
  must(*machine, {"ip", "netns", "add", db});
  must(*machine,
       {"ip", "-n", ctl, "link", "add", "v0", "type", "veth", "peer", "name", "v0", "netns", db});
  must(*machine, {"ip", "-n", ctl, "address", "add", client_ + "/24", "dev", "v0"});
  must(*machine, {"ip", "-n", db, "address", "add", address_ + "/24", "dev", "v0"});
  for (const std::string& name : {ctl, db}) {
    must(*machine, {"ip", "-n", name, "link", "set", "v0", "up"});
    must(*machine, {"ip", "-n", name, "link", "set", "lo", "up"});
  }
}

void World::write_server() const {
  std::ofstream(server_directory() / "server.py") << kServer;
  std::ofstream(server_directory() / "faketime") << "+0\n";
  std::ofstream(server_directory() / "table") << std::string(65'536, 'x');
}

ServerControl World::control() const {
  const std::string alive = kAlive;
  const std::string path = server_directory().string();
  ServerControl control;
  control.start = script(alive + kStart, {path, address_, std::to_string(port_)});
  control.start.environment = {{"LD_PRELOAD", kFaketime},
                               {"FAKETIME_TIMESTAMP_FILE", path + "/faketime"},
                               {"FAKETIME_NO_CACHE", "1"},
                               {"DONT_FAKE_MONOTONIC", "1"}};
  control.kill = script(alive + kSignal, {path, "KILL"});
  control.pause = script(alive + kSignal, {path, "STOP"});
  control.resume = script(alive + kSignal, {path, "CONT"});
  control.stop = script(alive + kStop, {path});
  control.state = script(alive + kState, {path});
  control.age = script(alive + kAge, {path});
  control.clock_reading = script(kClock, {path, address_, std::to_string(port_)});
  control.processes = script(alive + kProcesses, {path});
  control.commit = script(kCommit, {path, address_, std::to_string(port_)});
  control.directory = server_directory();
  control.data_file = server_directory() / "tabl*";
  control.clock_offset = script(R"(echo "$2" > "$1/faketime")", {path});
  control.port = port_;
  return control;
}

Battlefield World::battlefield() const {
  Battlefield field;
  field.control_address = client_;
  field.hosts.push_back(cluster_->hosts().front());
  field.terrain = terrain();
  field.server = [this](const Host&) { return control(); };
  field.run_id = run_id_;
  return field;
}

std::optional<double> World::ask(int port) const {
  const auto machine = local_host(directory_, namespaces_);
  std::vector<std::string> arguments;
  if (namespaces_) arguments = {"ip", "netns", "exec", run_id_ + "-ctl"};
  for (const char* each : {"timeout", "1", "bash", "-c", "exec 3<>/dev/tcp/$0/$1; cat <&3"}) {
    arguments.emplace_back(each);
  }
  arguments.push_back(address_);
  arguments.push_back(std::to_string(port));
  const auto output = machine->run(command(std::move(arguments)));
  if (!output || output->exit_status != 0 || output->standard_output.empty()) return std::nullopt;
  const auto now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch());
  return std::stod(output->standard_output) - now.count();
}

bool World::healthy() const {
  const std::optional<double> offset = ask();
  return offset && std::abs(*offset) < 1.5;
}

bool World::becomes_healthy(std::chrono::milliseconds within) const {
  return becomes([this] { return healthy(); }, within);
}

bool World::watchdog_ends(std::chrono::milliseconds within) const {
  return becomes([this] { return !watchdog_left(); }, within);
}

std::string World::firewall() const {
  if (!namespaces_) return "";
  return output_of(*cluster_->hosts().front(),
                   script("iptables -w -S; tc qdisc show | sed 's/direct_packets_stat.*//'", {}));
}

std::pair<int, int> World::packets_dropped_of_one_request() const {
  Host& host = *cluster_->hosts().front();
  const auto counted = [&](const char* flag) {
    const auto text = output_of(host, script(R"(iptables -w 5 -nvxL | awk -v flag="$1" '
        $3 == "DROP" && index($0, flag) { sum += $1 } END { print sum + 0 }')",
                                             {flag}));
    return std::stoi(text);
  };
  const int up = counted("dpt:");
  const int down = counted("spt:");
  (void)ask();
  return {counted("dpt:") - up, counted("spt:") - down};
}

// The mark is read from stdin, so that this shell and grep don't bear it.
bool World::watchdog_left() const {
  Command find = script("grep -lsaF -f - /proc/[0-9]*/cmdline", {});
  find.standard_input = "ordeal-watchdog:" + run_id_ + "-\n";
  return !output_of(*local_host(directory_, namespaces_), find).empty();
}

bool World::can(const FaultEntry& entry) const {
  // To fill the file system of a whole machine is refused.
  if (entry.name == "disk-full" && !namespaces_) return false;
  const Status met = check_need(entry, *cluster_->hosts().front());
  if (!met) WARN("skipped: " << met.error().message);
  return met.has_value();
}

Terrain World::terrain() const {
  return {
      .servers = {{"n1", "db"}},
      .legs = {
          {"client-db",
           {{.from = std::string(kControlNode), .to = "n1", .address = address_, .port = port_}}}}};
}

Fault World::draw(const FaultEntry& entry) const {
  Random random(5);
  const Options options = Options::make(entry.name, entry.options, {}).value();
  return entry.draw(options, terrain(), random);
}

FaultPlan World::plan(const FaultEntry& entry) const {
  return entry.plan(draw(entry), battlefield()).value();
}

}  // namespace ordeal
