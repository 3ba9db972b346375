#include "orchestrator/provision.h"

#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "orchestrator/ansible.h"
#include "orchestrator/playbook_output.h"
#include "remote/process.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::chrono::hours kWholeTimeout{24};
constexpr milliseconds kToolTimeout{10'000};
// Of the login user's home directory; with sudo, since files in it may be root's.
constexpr const char* kRemove =
    "rm -rf -- \"$HOME/$1\" 2> /dev/null || sudo -n rm -rf -- \"$HOME/$1\"";

// A private folder of this machine: for what Ansible is told, and for its sockets.
class Workplace {
 public:
  static Result<std::unique_ptr<Workplace>> make() {
    std::string pattern = fs::temp_directory_path() / "ordeal-provision-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      return surroundings_error("{}: cannot be made: {}", pattern, strerror(errno));
    }
    return std::unique_ptr<Workplace>(new Workplace(pattern));
  }
  // Ansible leaves its ssh connections open for a minute.
  ~Workplace() {
    std::error_code ignored;
    for (const auto& socket : fs::directory_iterator(sockets(), ignored)) {
      static_cast<void>(
          run_process({.arguments = {"ssh", "-O", "exit", "-o",
                                     "ControlPath=" + socket.path().string(), "nobody"}},
                      kToolTimeout));
    }
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  fs::path variables() const { return path_ / "variables.json"; }
  fs::path sockets() const { return path_ / "s"; }
  fs::path local() const { return path_ / "local"; }
  // In the home directory of each host's login user.
  std::string remote() const { return "." + path_.filename().string(); }

 private:
  explicit Workplace(fs::path path) : path_(std::move(path)) {}
  const fs::path path_;
};

// Requests a stop when a task takes too long.
class TaskClock {
 public:
  explicit TaskClock(milliseconds timeout, std::stop_source over)
      : timeout_(timeout),
        over_(std::move(over)),
        thread_([this](const std::stop_token& stop) { watch(stop); }) {}

  void restart() {
    const std::lock_guard lock(mutex_);
    deadline_ = Clock::now() + timeout_;
    changed_.notify_all();
  }
  bool expired() const {
    const std::lock_guard lock(mutex_);
    return expired_;
  }

 private:
  void watch(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const auto deadline = deadline_;
      changed_.wait_until(lock, stop, deadline, [&] { return deadline_ != deadline; });
      if (stop.stop_requested() || Clock::now() < deadline_) continue;
      expired_ = true;
      over_.request_stop();
      return;
    }
  }

  const milliseconds timeout_;
  std::stop_source over_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Clock::time_point deadline_ = Clock::now() + timeout_;
  bool expired_ = false;
  std::jthread thread_;  // last: it uses the others
};

// Ahead of the user's own, since ssh takes the first of two options. Hosts are known by their names
// in the inventory, as everywhere else.
std::string ssh_arguments(const HostSpec& host, const std::string& own) {
  const std::string known_as =
      host.ssh_port == 22 ? host.name : fmt::format("[{}]:{}", host.name, host.ssh_port);
  std::vector<std::string> options{"BatchMode=yes", "StrictHostKeyChecking=yes",
                                   "HostKeyAlias=" + known_as};
  if (!host.known_hosts.empty()) {
    options.push_back(fmt::format("UserKnownHostsFile=\"{}\"", host.known_hosts.string()));
    options.emplace_back("GlobalKnownHostsFile=/dev/null");
  }
  if (!host.proxy_command.empty()) {
    options.push_back("ProxyCommand=" + host.proxy_command);
    for (auto at = options.back().find('%'); at != std::string::npos;
         at = options.back().find('%', at + 2)) {
      options.back().insert(at, "%");
    }
  }
  Command command;
  for (const auto& option : options) {
    command.arguments.insert(command.arguments.end(), {"-o", option});
  }
  return shell_line(command) + " " + own;
}

class Provisioning {
 public:
  Provisioning(const ProvisionRequest& request, const Workplace& place)
      : request_(request),
        place_(place),
        playbook_(request.playbook.empty() ? fs::path(ORDEAL_PLAYBOOK) : request.playbook),
        log_(request.log),
        clock_(request.task_timeout, over_),
        output_(
            request.inventory.secrets, [this](const std::string& line) { log_ << line << '\n'; },
            [this](const std::string& task) {
              clock_.restart();
              request_.console.status("provisioning: " + task);
            }) {}

  Status run() {
    if (!log_) return surroundings_error("{}: cannot be written", request_.log.string());
    ORDEAL_TRY(write_variables());
    const std::stop_callback on_request(request_.stop, [this] { over_.request_stop(); });
    const auto started = Clock::now();
    const auto ended = run_process(process(), kWholeTimeout, over_.get_token());
    output_.finish();
    log_.flush();
    request_.console.status("");
    if (request_.stop.stop_requested()) return stopped();
    ORDEAL_TRY(judge(ended));
    request_.console.log().info(
        "provisioned {} hosts in {:.1f} s: {} changes", request_.inventory.lab.hosts.size(),
        std::chrono::duration<double>(Clock::now() - started).count(), output_.changes());
    return {};
  }

 private:
  Status write_variables() const {
    json arguments = json::object();
    for (const HostSpec& host : request_.inventory.lab.hosts) {
      arguments[host.name] = ssh_arguments(host, request_.inventory.ssh_arguments.at(host.name));
    }
    json systems = json::object();
    for (const auto& [name, system] : request_.systems) {
      for (const auto& [host, version] : system) {
        systems[name]["hosts"].push_back(host);
        if (!version.empty()) systems[name]["versions"][host] = version;
      }
    }
    const json variables = {
        {"ordeal_systems", systems},
        {"ordeal_ssh_arguments", arguments},
        {"ansible_ssh_common_args", "{{ ordeal_ssh_arguments[inventory_hostname] }}"},
        {"ansible_ssh_extra_args", ""},
        {"ansible_ssh_host_key_checking", true},
        {"ansible_host_key_checking", true}};
    std::ofstream file(place_.variables());
    file << variables.dump();
    file.close();
    if (file) return {};
    return surroundings_error("{}: cannot be written", place_.variables().string());
  }

  ProcessRequest process() {
    ProcessRequest process;
    // The shell joins both streams in the order in which they are written.
    process.arguments = {"sh",
                         "-c",
                         "exec \"$0\" \"$@\" 2>&1",
                         "ansible-playbook",
                         "-i",
                         request_.inventory_file,
                         "--user",
                         "root",
                         "--forks",
                         std::to_string(request_.inventory.lab.hosts.size()),
                         "--extra-vars",
                         "@" + place_.variables().string(),
                         playbook_};
    process.environment = ansible_environment();
    process.environment.insert({{"ANSIBLE_STDOUT_CALLBACK", "default"},
                                {"ANSIBLE_HOST_KEY_CHECKING", "true"},
                                {"ANSIBLE_RETRY_FILES_ENABLED", "false"},
                                // A module then has a terminal, and ends with the connection.
                                {"ANSIBLE_PIPELINING", "false"},
                                {"ANSIBLE_SSH_USETTY", "true"},
                                {"ANSIBLE_LOCAL_TEMP", place_.local()},
                                {"ANSIBLE_REMOTE_TEMP", "~/" + place_.remote()},
                                {"ANSIBLE_SSH_CONTROL_PATH_DIR", place_.sockets()}});
    process.on_output = [this](std::string_view text) { output_.add(text); };
    return process;
  }

  Status judge(const Result<CommandOutput>& ended) const {
    if (clock_.expired()) {
      return surroundings_error(
          "provisioning: task \"{}\" did not end within {} s; see {}, or set `task-timeout` of the "
          "campaign's hosts",
          output_.task(), std::chrono::duration<double>(request_.task_timeout).count(),
          request_.log.string());
    }
    if (!ended) {
      return surroundings_error("provisioning: ansible-playbook: {}", ended.error().message);
    }
    if (ended->exit_status == 0) return {};
    if (output_.failures().empty()) {
      return surroundings_error(
          "provisioning: ansible-playbook ended with exit status {}: {}; see {}",
          ended->exit_status, output_.last_lines(), request_.log.string());
    }
    std::string failures;
    for (const auto& [host, task, reason] : output_.failures()) {
      failures += fmt::format("{}host {}: task \"{}\" failed: {}", failures.empty() ? "" : "; ",
                              host, task, reason);
    }
    return surroundings_error("provisioning: {}; {} ends: {}", failures, request_.log.string(),
                              output_.last_lines());
  }

  const ProvisionRequest& request_;
  const Workplace& place_;
  const fs::path playbook_;
  std::ofstream log_;
  std::stop_source over_;
  TaskClock clock_;
  PlaybookOutput output_;
};

// Otherwise Ansible would ask, and nobody would answer.
Status check_become(const ProvisionRequest& request, Host& host) {
  if (host.spec().user == "root" || request.inventory.can_become.contains(host.name())) return {};
  ORDEAL_TRY_ASSIGN(const auto sudo, host.run({{"sudo", "-n", "true"}, {}, {}, {}}));
  if (sudo.exit_status == 0) return {};
  return surroundings_error(
      "host {}: provisioning needs root, and sudo of user {} {}; let it run without a password "
      "(NOPASSWD in sudoers), log in as root, or give ansible_become_password, best in a file of "
      "ansible-vault",
      host.name(), host.spec().user,
      sudo.exit_status == 127 ? "is not installed" : "asks for a password");
}

}  // namespace

Status provision(const ProvisionRequest& request) {
  ORDEAL_TRY(check_ansible("ansible-playbook"));
  ORDEAL_TRY(request.cluster.for_each([&](Host& host) { return check_become(request, host); }));
  ORDEAL_TRY_ASSIGN(const auto place, Workplace::make());
  const Status done = Provisioning(request, *place).run();
  // Is there where a module was stopped.
  const Status clean = request.cluster.for_each([&](Host& host) -> Status {
    return run_checked(host, {{"sh", "-c", kRemove, "sh", place->remote()}, {}, {}, {}})
        .map([](auto&&) {});
  });
  if (!clean) request.console.log().warn("cleaning up after Ansible: {}", clean.error().message);
  return done;
}

}  // namespace ordeal
