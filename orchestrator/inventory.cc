#include "orchestrator/inventory.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "orchestrator/ansible.h"
#include "orchestrator/jump_host.h"
#include "remote/process.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::chrono::minutes kReadTimeout{2};  // dynamic inventories ask around

// The numeric address, as databases and packet filters need it.
std::string resolve(const std::string& name) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  addrinfo* found = nullptr;
  if (getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return name;
  char text[NI_MAXHOST] = "";
  getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  freeaddrinfo(found);
  return text;
}

// Our own address on the way to `address`: what the host sees as the clients' one.
std::string address_towards(const std::string& address) {
  sockaddr_in remote{};
  remote.sin_family = AF_INET;
  remote.sin_port = htons(22);
  if (inet_pton(AF_INET, address.c_str(), &remote.sin_addr) != 1) return "127.0.0.1";
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);  // sends nothing
  sockaddr_in own{};
  socklen_t size = sizeof own;
  char text[INET_ADDRSTRLEN] = "127.0.0.1";
  if (connect(socket_fd, reinterpret_cast<sockaddr*>(&remote), sizeof remote) == 0 &&
      getsockname(socket_fd, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
    inet_ntop(AF_INET, &own.sin_addr, text, sizeof text);
  }
  close(socket_fd);
  return text;
}

// ---- a host

struct HostVariables {
  const fs::path& file;
  const std::string& host;
  const json& variables;

  // The first of these variables that is there, else `otherwise`. Values are as they were written:
  // only a playbook fills in templates, and only Ansible opens its vault.
  Result<std::string> text(const std::vector<const char*>& names, std::string otherwise) const {
    for (const char* name : names) {
      const auto found = variables.find(name);
      if (found == variables.end() || found->is_null()) continue;
      if (found->is_object() || found->is_array()) {
        return bad_input("{}: host {}: {} is no single value, or is encrypted; write it in clear",
                         file.string(), host, name);
      }
      std::string text = found->is_string() ? found->get<std::string>() : found->dump();
      if (text.find("{{") == std::string::npos) return text;
      return bad_input(
          "{}: host {}: {} is the template \"{}\", which only a playbook fills in; write the value",
          file.string(), host, name, text);
    }
    return otherwise;
  }
};

Result<int> port_of(const HostVariables& host) {
  ORDEAL_TRY_ASSIGN(const std::string text, host.text({"ansible_port", "ansible_ssh_port"}, "22"));
  int port = 0;
  if (boost::conversion::try_lexical_convert(text, port) && port >= 1 && port <= 65535) return port;
  return bad_input("{}: host {}: ansible_port is \"{}\": expected 1 to 65535", host.file.string(),
                   host.host, text);
}

// As Ansible and ssh take it: from the home directory or where the program was started.
fs::path local_path(const std::string& text) {
  const char* home = std::getenv("HOME");
  if (text.starts_with("~/") && home != nullptr) return home + text.substr(1);
  return text.empty() ? fs::path() : fs::absolute(text);
}

Status check_reachable_by_ssh(const HostVariables& host) {
  // It becomes the name of folders.
  if (host.host.find('/') != std::string::npos || host.host.starts_with('.')) {
    return bad_input(
        "{}: \"{}\" cannot be the name of a host; give an alias, and the address as "
        "ansible_host",
        host.file.string(), host.host);
  }
  ORDEAL_TRY_ASSIGN(const std::string connection, host.text({"ansible_connection"}, "ssh"));
  if (connection == "ssh" || connection == "smart" || connection == "paramiko") return {};
  return bad_input("{}: host {}: ansible_connection is {}, and hosts are reached by ssh only",
                   host.file.string(), host.host, connection);
}

Result<std::string> ssh_arguments_of(const HostVariables& host) {
  ORDEAL_TRY_ASSIGN(const std::string common, host.text({"ansible_ssh_common_args"}, ""));
  ORDEAL_TRY_ASSIGN(const std::string extra, host.text({"ansible_ssh_extra_args"}, ""));
  return boost::trim_copy(common + " " + extra);
}

Result<HostSpec> host_of(const HostVariables& from, const std::string& ssh_arguments) {
  ORDEAL_TRY(check_reachable_by_ssh(from));
  HostSpec host;
  host.name = from.host;
  ORDEAL_TRY_ASSIGN(const std::string address,
                    from.text({"ansible_host", "ansible_ssh_host"}, host.name));
  host.address = resolve(address);
  ORDEAL_TRY_ASSIGN(host.ssh_port, port_of(from));
  ORDEAL_TRY_ASSIGN(host.user, from.text({"ansible_user", "ansible_ssh_user"}, "root"));
  ORDEAL_TRY_ASSIGN(const std::string key,
                    from.text({"ansible_ssh_private_key_file", "ansible_private_key_file"}, ""));
  host.identity = local_path(key);
  ORDEAL_TRY_ASSIGN(const std::string known,
                    from.text({"ordeal_known_hosts"}, "~/.ssh/known_hosts"));
  host.known_hosts = local_path(known);
  ORDEAL_TRY_ASSIGN(const std::string directory,
                    from.text({"ordeal_directory"}, "/var/lib/ordeal"));
  host.directory = directory;
  auto way = proxy_command_of(ssh_arguments, host);
  if (!way) {
    return bad_input("{}: host {}: {}", from.file.string(), from.host, way.error().message);
  }
  host.proxy_command = *std::move(way);
  return host;
}

// ---- all of them

bool is_secret(const std::string& name) {
  const std::string lower = boost::to_lower_copy(name);
  const auto has = [&](const char* part) { return lower.find(part) != std::string::npos; };
  return has("pass") || has("secret") || has("token");
}

// Texts at any depth below a variable that is named like a secret.
void collect_secrets(const json& value, bool secret, std::vector<std::string>& into) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      collect_secrets(inner, secret || is_secret(name), into);
    }
  } else if (value.is_array()) {
    for (const json& inner : value) collect_secrets(inner, secret, into);
  } else if (secret && (value.is_string() || value.is_number())) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (!text.empty()) into.push_back(std::move(text));
  }
}

bool can_become(const json& variables) {
  for (const char* name : {"ansible_become_password", "ansible_become_pass", "ansible_sudo_pass"}) {
    if (variables.contains(name)) return true;
  }
  return variables.value("ansible_become_method", json("sudo")) != json("sudo");
}

// In the order in which the inventory names them, each once.
void add_hosts(const json& root, const std::string& group, std::vector<std::string>& hosts) {
  const auto found = root.find(group);
  if (found == root.end()) return;
  for (const json& host : found->value("hosts", json::array())) {
    const auto name = host.get<std::string>();
    if (std::find(hosts.begin(), hosts.end(), name) == hosts.end()) hosts.push_back(name);
  }
  for (const json& child : found->value("children", json::array())) {
    add_hosts(root, child.get<std::string>(), hosts);
  }
}

void add_groups(const json& root, const std::string& group, Inventory& inventory) {
  const auto found = root.find(group);
  const json children =
      found == root.end() ? json::array() : found->value("children", json::array());
  for (const json& child : children) {
    const auto name = child.get<std::string>();
    if (name != "ungrouped") add_hosts(root, name, inventory.groups[name]);
    add_groups(root, name, inventory);
  }
}

Status add_host(const fs::path& file, const std::string& name, const json& variables,
                Inventory& inventory) {
  const HostVariables from{file, name, variables};
  ORDEAL_TRY_ASSIGN(const std::string arguments, ssh_arguments_of(from));
  ORDEAL_TRY_ASSIGN(HostSpec host, host_of(from, arguments));
  inventory.ssh_arguments[name] = arguments;
  if (can_become(variables)) inventory.can_become.insert(name);
  HostAbilities abilities;
  abilities.root = host.user == "root";
  abilities.packet_filter = abilities.root;
  inventory.lab.hosts.push_back(std::move(host));
  inventory.lab.abilities.push_back(abilities);
  return {};
}

Result<Inventory> inventory_of(const fs::path& file, const json& root) {
  Inventory inventory;
  inventory.lab.kind = "inventory";
  inventory.lab.name = file.stem().string();
  const json variables = root.at("_meta").at("hostvars");
  collect_secrets(variables, false, inventory.secrets);
  std::vector<std::string> names;
  add_hosts(root, "all", names);
  if (names.empty()) return bad_input("{}: the inventory has no hosts", file.string());
  add_groups(root, "all", inventory);
  for (const std::string& name : names) {
    ORDEAL_TRY(add_host(file, name, variables.value(name, json::object()), inventory));
  }
  inventory.lab.control_address = address_towards(inventory.lab.hosts.front().address);
  return inventory;
}

Result<std::string> listing_of(const fs::path& file, std::stop_token stop) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    return bad_input("{}: the inventory cannot be read: there is no such file", file.string());
  }
  ORDEAL_TRY(check_ansible("ansible-inventory"));
  auto listing = run_process({.arguments = {"ansible-inventory", "-i", file.string(), "--list"},
                              .environment = ansible_environment()},
                             kReadTimeout, std::move(stop));
  if (!listing && listing.error().kind == ErrorKind::stopped) return stopped();
  if (!listing) {
    return surroundings_error("{}: ansible-inventory: {}", file.string(), listing.error().message);
  }
  if (listing->exit_status == 0) return std::move(listing->standard_output);
  const auto extension = file.extension();
  const bool yaml = extension == ".yml" || extension == ".yaml" || extension == ".json";
  return bad_input("{}: the inventory cannot be read: {}", file.string(),
                   ansible_words(listing->standard_error, yaml ? "yaml" : "ini"));
}

}  // namespace

Result<Inventory> read_inventory(const fs::path& file, std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(const std::string listing, listing_of(file, std::move(stop)));
  try {
    return inventory_of(file, json::parse(listing));
  } catch (const json::exception& error) {
    return internal_error("{}: ansible-inventory --list is not understood: {}", file.string(),
                          error.what());
  }
}

}  // namespace ordeal
