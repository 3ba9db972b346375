#include "cli/host_choice.h"

#include <boost/lexical_cast/try_lexical_convert.hpp>

#include "orchestrator/inventory.h"

namespace ordeal {
namespace {

Result<HostSpec> single_host(const std::string& text, const std::string& option) {
  HostSpec spec;
  std::string address = text;
  if (const auto at = address.find('@'); at != std::string::npos) {
    spec.user = address.substr(0, at);
    address = address.substr(at + 1);
  }
  if (const auto colon = address.rfind(':');
      colon != std::string::npos && address.find(':') == colon) {
    if (!boost::conversion::try_lexical_convert(address.substr(colon + 1), spec.ssh_port)) {
      return bad_input("{} {}: expected [user@]address[:port]", option, text);
    }
    address = address.substr(0, colon);
  }
  spec.name = spec.address = address;
  spec.directory = "/var/lib/ordeal";
  return spec;
}

}  // namespace

Result<Lab> chosen_hosts(const HostChoice& choice) {
  if (!choice.lab.empty()) return find_lab(choice.lab);
  if (!choice.inventory.empty()) {
    ORDEAL_TRY_ASSIGN(Inventory inventory, read_inventory(choice.inventory));
    return std::move(inventory.lab);
  }
  Lab lab;
  for (const std::string& text : choice.hosts) {
    ORDEAL_TRY_ASSIGN(HostSpec spec, single_host(text, choice.option));
    lab.hosts.push_back(std::move(spec));
    lab.abilities.emplace_back();
  }
  return lab;
}

}  // namespace ordeal
