#include <algorithm>
#include <optional>
#include <thread>

#include "remote/host.h"

namespace ordeal {
namespace {

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (text.empty()) return "nothing";
  const std::size_t newline = text.rfind('\n');
  return std::string(newline == std::string_view::npos ? text : text.substr(newline + 1));
}

// One error for all: the gravest kind is that of the first; messages are kept in host order.
Status joined(const std::vector<Status>& results) {
  std::optional<Error> error;
  for (const Status& result : results) {
    if (result) continue;
    if (!error) {
      error = result.error();
    } else {
      error->message += "; " + result.error().message;
    }
  }
  if (error) return tl::unexpected(*std::move(error));
  return {};
}

}  // namespace

Result<CommandOutput> run_checked(Host& host, const Command& command,
                                  std::chrono::milliseconds timeout, std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(CommandOutput output, host.run(command, timeout, std::move(stop)));
  if (output.exit_status != 0) {
    return surroundings_error("on host {}, {} ended with exit status {}; it said: {}", host.name(),
                              named(command), output.exit_status, last_line(output.standard_error));
  }
  return output;
}

std::vector<Host*> Cluster::hosts() const {
  std::vector<Host*> hosts;
  hosts.reserve(hosts_.size());
  for (const auto& host : hosts_) hosts.push_back(host.get());
  return hosts;
}

Host* Cluster::find(std::string_view name) const {
  const auto found = std::find_if(hosts_.begin(), hosts_.end(),
                                  [&](const auto& host) { return host->name() == name; });
  return found == hosts_.end() ? nullptr : found->get();
}

Cluster Cluster::only(const std::vector<std::string>& names) const {
  Cluster part;
  part.control_address = control_address;
  std::copy_if(hosts_.begin(), hosts_.end(), std::back_inserter(part.hosts_),
               [&](const auto& host) {
                 return std::find(names.begin(), names.end(), host->name()) != names.end();
               });
  return part;
}

Status Cluster::for_each(const std::function<Status(Host&)>& step) const {
  std::vector<Status> results(hosts_.size());
  {
    std::vector<std::jthread> threads;
    threads.reserve(hosts_.size());
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          results[i] = step(*hosts_[i]);
        } catch (const std::exception& error) {
          results[i] = internal_error("{}: {}", hosts_[i]->name(), error.what());
        }
      });
    }
  }
  return joined(results);
}

}  // namespace ordeal
