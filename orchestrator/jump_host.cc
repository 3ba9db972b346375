#include "orchestrator/jump_host.h"

#include <wordexp.h>

#include <boost/algorithm/string.hpp>
#include <vector>

namespace ordeal {
namespace {

// ssh itself would ask whoever sits there, and there is nobody.
constexpr const char* kConnectTimeout = "ConnectTimeout=10";

Result<std::vector<std::string>> words_of(const std::string& arguments) {
  wordexp_t found{};
  if (wordexp(arguments.c_str(), &found, WRDE_NOCMD | WRDE_UNDEF) != 0) {
    return bad_input("\"{}\" cannot be read as arguments for ssh; quote them as for a shell",
                     arguments);
  }
  std::vector<std::string> words(found.we_wordv, found.we_wordv + found.we_wordc);
  wordfree(&found);
  return words;
}

struct SshOption {
  std::string name;  // in lower case; "proxyjump" for -J
  std::string value;
};

// "ProxyJump=bastion" or "ProxyJump bastion".
SshOption option_of(const std::string& text) {
  const auto end = text.find_first_of("= \t");
  SshOption option{boost::to_lower_copy(text.substr(0, end)), ""};
  if (end != std::string::npos) option.value = text.substr(end + 1);
  boost::trim_left_if(option.value, boost::is_any_of("= \t"));
  return option;
}

// -o and -J with their arguments, whether apart ("-o X=1") or not ("-oX=1"); the rest says nothing
// about the way to the host.
std::vector<SshOption> options_of(const std::vector<std::string>& words) {
  std::vector<SshOption> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-o") && !words[i].starts_with("-J")) continue;
    const bool jump = words[i][1] == 'J';
    std::string value = words[i].substr(2);
    if (value.empty() && i + 1 < words.size()) value = words[++i];
    options.push_back(jump ? SshOption{"proxyjump", value} : option_of(value));
  }
  return options;
}

struct Hop {
  std::string user;
  std::string host;
  std::string port;
};

// [user@]host[:port] or ssh://[user@]host[:port]; a numeric IPv6 address with a port in brackets.
Result<Hop> hop_of(const std::string& text) {
  Hop hop;
  hop.host = text.starts_with("ssh://") ? text.substr(6) : text;
  if (const auto at = hop.host.rfind('@'); at != std::string::npos) {
    hop.user = hop.host.substr(0, at);
    hop.host.erase(0, at + 1);
  }
  const auto colon = hop.host.rfind(':');
  const bool bracketed = hop.host.starts_with('[');
  if (colon != std::string::npos &&
      (bracketed ? hop.host[colon - 1] == ']' : hop.host.find(':') == colon)) {
    hop.port = hop.host.substr(colon + 1);
    hop.host.erase(colon);
  }
  if (bracketed) boost::trim_if(hop.host, boost::is_any_of("[]"));
  const bool digits = hop.port.find_first_not_of("0123456789") == std::string::npos;
  if (!hop.host.empty() && !hop.host.starts_with('-') && digits) return hop;
  return bad_input("\"{}\" is no jump host: expected [user@]host[:port]", text);
}

// ssh to a hop, which connects its streams to `destination`.
std::string ssh_through(const Hop& hop, const std::string& destination, const HostSpec& host,
                        const std::string& way_to_hop) {
  Command ssh;
  ssh.arguments = {"ssh", "-o",           "BatchMode=yes", "-o", "StrictHostKeyChecking=yes",
                   "-o",  kConnectTimeout};
  const auto add = [&](const char* flag, const std::string& value) {
    ssh.arguments.insert(ssh.arguments.end(), {flag, value});
  };
  if (!host.known_hosts.empty()) {
    add("-o", fmt::format("UserKnownHostsFile=\"{}\"", host.known_hosts.string()));
  }
  if (!host.identity.empty()) add("-i", host.identity);
  if (!way_to_hop.empty()) {
    add("-o", "ProxyCommand=" + boost::replace_all_copy(way_to_hop, "%", "%%"));
  }
  if (!hop.port.empty()) add("-p", hop.port);
  if (!hop.user.empty()) add("-l", hop.user);
  add("-W", destination);
  add("--", hop.host);
  return shell_line(ssh);
}

std::string destination(const std::string& host, const std::string& port) {
  return host.find(':') == std::string::npos ? host + ":" + port
                                             : fmt::format("[{}]:{}", host, port);
}

Result<std::string> through_hops(const std::string& list, const HostSpec& host) {
  std::vector<std::string> texts;
  boost::split(texts, list, boost::is_any_of(","));
  std::vector<Hop> hops;
  for (const std::string& text : texts) {
    ORDEAL_TRY_ASSIGN(Hop hop, hop_of(text));
    hops.push_back(std::move(hop));
  }
  std::string way;
  for (std::size_t i = 0; i < hops.size(); ++i) {
    const std::string next =
        i + 1 == hops.size()
            ? destination(host.address, std::to_string(host.ssh_port))
            : destination(hops[i + 1].host, hops[i + 1].port.empty() ? "22" : hops[i + 1].port);
    way = ssh_through(hops[i], next, host, way);
  }
  return way;
}

// As ssh_config(5), TOKENS, has it.
Result<std::string> expanded(const std::string& command, const HostSpec& host) {
  std::string lower = boost::to_lower_copy(command);
  boost::erase_all(lower, " ");
  for (const char* unchecked : {"stricthostkeychecking=no", "stricthostkeychecking=off",
                                "stricthostkeychecking=accept-new", "/dev/null"}) {
    if (lower.find(unchecked) == std::string::npos) continue;
    return bad_input(
        "ProxyCommand \"{}\" does not check the jump host's key; leave {} out, and add the key to "
        "known_hosts",
        command, unchecked);
  }
  std::string text;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] != '%' || i + 1 == command.size()) {
      text += command[i];
      continue;
    }
    switch (command[++i]) {
      case 'h':
        text += host.address;
        break;
      case 'n':
        text += host.name;
        break;
      case 'p':
        text += std::to_string(host.ssh_port);
        break;
      case 'r':
        text += host.user;
        break;
      case '%':
        text += '%';
        break;
      default:
        return bad_input("ProxyCommand \"{}\": %{} is not known; %h, %n, %p, %r and %% are",
                         command, command[i]);
    }
  }
  return text;
}

}  // namespace

Result<std::string> proxy_command_of(const std::string& ssh_arguments, const HostSpec& host) {
  ORDEAL_TRY_ASSIGN(const auto words, words_of(ssh_arguments));
  for (const SshOption& option : options_of(words)) {
    if (option.name != "proxyjump" && option.name != "proxycommand") continue;
    if (option.value == "none") return "";
    return option.name == "proxyjump" ? through_hops(option.value, host)
                                      : expanded(option.value, host);
  }
  return "";
}

}  // namespace ordeal
