// Helpers that plans share.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nemesis/nemesis.h"

namespace ordeal {

Command command(std::vector<std::string> arguments);
// A POSIX shell script, with its arguments from $1.
Command script(std::string_view text, std::vector<std::string> arguments);
// One command that runs these in turn and ends with the first failure.
Command all_of(const std::vector<Command>& commands);
// One that runs all of them, and fails where one failed.
Command each_of(const std::vector<Command>& commands);

// By the catalogue. bad_input where the fault's parameters make no sense.
Result<FaultPlan> plan_fault(const Fault& fault, const Battlefield& battlefield);

// Fails with `internal` where the fault names a host that is not on the battlefield.
Result<const Host*> find_host(const Fault& fault, const Battlefield& battlefield,
                              const std::string& name);
// The same for a leg of its terrain.
Result<const Leg*> find_leg(const Fault& fault, const Battlefield& battlefield,
                            const std::string& name);

// A parameter as a number; bad_input, which tells the bounds, where a written schedule gave none.
Result<double> number_of(const Fault& fault, const std::string& parameter, double minimum,
                         double maximum);

// What is done to, and asked of, each server. A function that is empty plans nothing.
struct ServerSteps {
  using Step = std::function<Command(const ServerControl&)>;
  Step inject;
  Step undo;
  Step effect;
  Step healed;
  Step possible{};
};

// A plan for faults that strike each server by one command and undo it by another.
Result<FaultPlan> plan_per_server(const Fault& fault, const Battlefield& battlefield,
                                  std::string detail, const ServerSteps& steps);

// Probes of a server, as FaultPlan::effect and healed: its processes' state is one of `words` (see
// ServerControl::state).
Command state_is(const ServerControl& control, std::initializer_list<std::string_view> words);
// The clock that its clients see is ahead of the host's by `offset_s`, to within a quarter of a
// second, and within half of the offset; of a server that does not answer, `silent_is_fine`
// decides.
Command clock_is(const ServerControl& control, std::string_view offset_s, bool silent_is_fine);

}  // namespace ordeal
