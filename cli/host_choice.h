// Hosts that are named on the command line, for commands that need no campaign.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/lab/lab.h"

namespace ordeal {

struct HostChoice {
  std::string lab;        // name of a lab that is up
  std::string inventory;  // file
  // Otherwise these, each as [user@]address[:port]; `option` names them in messages.
  std::vector<std::string> hosts;
  std::string option;
};

Result<Lab> chosen_hosts(const HostChoice& choice);

}  // namespace ordeal
