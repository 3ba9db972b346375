#include "orchestrator/inventory.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/algorithm/string.hpp>
#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <cstdlib>
#include <fstream>
#include <map>

namespace ordeal {
namespace {

using Variables = std::map<std::string, std::string>;

struct Line {
  const std::filesystem::path& file;
  std::size_t number;
  std::string text;
};

Result<Variables> variables_of(const Line& line, const std::vector<std::string>& words) {
  Variables variables;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      return bad_input("{}:{}: expected name=value in place of \"{}\"", line.file.string(),
                       line.number, word);
    }
    if (word.find_first_of("\"'") != std::string::npos) {
      return bad_input("{}:{}: {}: quotes are not read; write the value without",
                       line.file.string(), line.number, word);
    }
    variables[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return variables;
}

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

Result<HostSpec> host_of(const Line& line, const std::string& name, const Variables& variables) {
  const auto value = [&](const char* key, const std::string& otherwise) {
    const auto found = variables.find(key);
    return found == variables.end() ? otherwise : found->second;
  };
  HostSpec host;
  host.name = name;
  host.address = resolve(value("ansible_host", name));
  host.user = value("ansible_user", "root");
  host.identity = value("ansible_ssh_private_key_file", "");
  const char* home = std::getenv("HOME");
  host.known_hosts =
      value("ordeal_known_hosts", std::string(home ? home : "") + "/.ssh/known_hosts");
  host.directory = value("ordeal_directory", "/var/lib/ordeal");
  const std::string port = value("ansible_port", "22");
  if (!boost::conversion::try_lexical_convert(port, host.ssh_port) || host.ssh_port < 1 ||
      host.ssh_port > 65535) {
    return bad_input("{}:{}: ansible_port is \"{}\": expected 1 to 65535", line.file.string(),
                     line.number, port);
  }
  return host;
}

struct HostLine {
  Line line;
  std::string name;
  Variables variables;
  std::vector<std::string> groups;
};

struct Inventory {
  std::vector<HostLine> hosts;
  std::map<std::string, Variables> groups;
  Variables common;
};

Status read_line(const Line& line, const std::string& section, Inventory& inventory) {
  std::vector<std::string> words;
  boost::split(words, line.text, boost::is_any_of(" \t"), boost::token_compress_on);
  if (section == "all:vars") {
    ORDEAL_TRY_ASSIGN(const Variables common, variables_of(line, words));
    inventory.common.insert(common.begin(), common.end());
    return {};
  }
  if (section.ends_with(":vars")) {
    ORDEAL_TRY_ASSIGN(const Variables group, variables_of(line, words));
    inventory.groups[section.substr(0, section.size() - 5)].insert(group.begin(), group.end());
    return {};
  }
  if (section.find(':') != std::string::npos) return {};  // groups of groups name no hosts
  const std::string name = words.front();
  if (name.find_first_of("[]") != std::string::npos) {
    return bad_input("{}:{}: \"{}\": give each host a line; ranges are not read",
                     line.file.string(), line.number, name);
  }
  words.erase(words.begin());
  ORDEAL_TRY_ASSIGN(Variables variables, variables_of(line, words));
  for (auto& host : inventory.hosts) {
    if (host.name != name) continue;
    host.variables.merge(variables);  // named again in another group
    host.groups.push_back(section);
    return {};
  }
  inventory.hosts.push_back({line, name, std::move(variables), {section}});
  return {};
}

}  // namespace

Result<Lab> read_inventory(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return bad_input("{}: the inventory cannot be read", file.string());
  Inventory inventory;
  std::string section;
  std::string text;
  for (std::size_t number = 1; std::getline(stream, text); ++number) {
    text = boost::trim_copy(text.substr(0, text.find_first_of("#;")));
    if (text.empty()) continue;
    if (text.front() == '[' && text.back() == ']') {
      section = text.substr(1, text.size() - 2);
      continue;
    }
    ORDEAL_TRY(read_line({file, number, text}, section, inventory));
  }
  if (inventory.hosts.empty()) return bad_input("{}: the inventory has no hosts", file.string());

  Lab lab;
  lab.kind = "inventory";
  lab.name = file.stem().string();
  for (auto& [line, name, variables, groups] : inventory.hosts) {
    for (const auto& group : groups) {
      variables.insert(inventory.groups[group].begin(), inventory.groups[group].end());
    }
    variables.insert(inventory.common.begin(), inventory.common.end());
    ORDEAL_TRY_ASSIGN(HostSpec host, host_of(line, name, variables));
    HostAbilities abilities;
    abilities.root = host.user == "root";
    abilities.packet_filter = abilities.root;
    lab.hosts.push_back(std::move(host));
    lab.abilities.push_back(abilities);
  }
  lab.control_address = address_towards(lab.hosts.front().address);
  return lab;
}

}  // namespace ordeal
