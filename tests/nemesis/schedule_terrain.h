// What tests of schedules draw from: all faults, on three servers and three legs.
#pragma once

#include <vector>

#include "nemesis/schedule.h"

namespace ordeal {

inline std::vector<FaultChoice> all_faults() {
  std::vector<FaultChoice> choices;
  for (const FaultEntry& entry : fault_catalog()) {
    choices.push_back({&entry, Options::make(entry.name, entry.options, {}).value()});
  }
  return choices;
}

inline Leg leg(const char* name) {
  return {name,
          {{.from = std::string(kControlNode),
            .to = "n1",
            .address = "10.0.0.2",
            .port = 5432,
            .listener = name}}};
}

inline Terrain terrain() {
  return {.servers = {{"n1", "primary"}, {"n2", "standby"}, {"n3", "standby"}},
          .legs = {leg("client-db"), leg("replication"), leg("backup")}};
}

}  // namespace ordeal
