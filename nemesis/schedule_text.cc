// Schedules as people write and read them.
#include <fmt/format.h>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>

#include "base/names.h"
#include "nemesis/schedule.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

std::vector<std::string> split(const std::string& text, const char* at) {
  std::vector<std::string> parts;
  boost::split(parts, text, boost::is_any_of(at), boost::token_compress_on);
  std::erase(parts, "");
  return parts;
}

Status read_when(const std::string& text, ScheduledFault& into) {
  const std::vector<std::string> words = split(text, " ");
  const bool shaped = (words.size() == 2 || words.size() == 4) && words[0] == "at" &&
                      (words.size() == 2 || words[2] == "for");
  const auto start = shaped ? parse_duration(words[1]) : Result<milliseconds>(bad_input(""));
  const auto duration = !shaped || words.size() == 2 ? Result<milliseconds>(milliseconds{5'000})
                                                     : parse_duration(words[3]);
  if (!start || !duration || *duration <= milliseconds{0}) {
    return bad_input("\"{}\": expected a time such as `at 12s for 4s`", text);
  }
  into.start = *start;
  into.duration = *duration;
  return {};
}

Result<FaultChoice> choice_of(const std::string& name, std::span<const FaultChoice> faults) {
  for (const FaultChoice& choice : faults) {
    if (choice.entry->name == name) return choice;
  }
  std::vector<std::string_view> known;
  for (const FaultEntry& entry : fault_catalog()) {
    known.push_back(entry.name);
    if (entry.name != name) continue;
    ORDEAL_TRY_ASSIGN(Options options, Options::make("fault " + name, entry.options, {}));
    return FaultChoice{&entry, std::move(options)};
  }
  return bad_input("{}", unknown_name("fault", name, known));
}

Status set_from(const std::string& word, Strikes strikes, Fault& fault) {
  const std::size_t equals = word.find('=');
  const bool of_legs = strikes == Strikes::legs;
  if (equals == std::string::npos) {
    if (of_legs) {
      return bad_input("\"{}\": fault {} strikes legs, as in `legs=client-db`, and takes no hosts",
                       word, fault.name);
    }
    fault.hosts = split(word, ",");
  } else if (of_legs && word.substr(0, equals) == "legs") {
    fault.legs = split(word.substr(equals + 1), ",");
  } else if (fault.parameters.count(word.substr(0, equals)) != 0) {
    fault.parameters[word.substr(0, equals)] = word.substr(equals + 1);
  } else {
    std::vector<std::string> known;
    if (of_legs) known.push_back("legs");
    for (const auto& [name, value] : fault.parameters) known.push_back(name);
    return bad_input("\"{}\": fault {} has no such parameter; known: {}", word, fault.name,
                     known.empty() ? "none" : boost::algorithm::join(known, ", "));
  }
  return {};
}

Status check_direction(const Fault& fault) {
  const auto found = fault.parameters.find("direction");
  if (found == fault.parameters.end()) return {};
  for (const char* known : {"upstream", "downstream", "both"}) {
    if (found->second == known) return {};
  }
  return bad_input("direction={}: expected upstream, downstream or both", found->second);
}

// Roles and systems stand for their hosts.
std::vector<std::string> placed(const std::vector<std::string>& names, const Terrain& terrain) {
  std::vector<std::string> hosts;
  for (const std::string& name : names) {
    const auto before = hosts.size();
    for (const Terrain::Server& server : terrain.servers) {
      if (server.host != name && has_role(server, name)) hosts.push_back(server.host);
    }
    if (hosts.size() == before) hosts.push_back(name);
  }
  return hosts;
}

Status check_places(const Fault& fault, const Terrain& terrain) {
  std::vector<std::string_view> hosts;
  std::vector<std::string_view> legs;
  for (const Terrain::Server& server : terrain.servers) hosts.push_back(server.host);
  for (const Leg& leg : terrain.legs) legs.push_back(leg.name);
  const auto check = [&](const auto& names, const auto& known, std::string_view kind) -> Status {
    for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return bad_input("{}", unknown_name(kind, name, known));
    }
    return {};
  };
  ORDEAL_TRY(check(fault.hosts, hosts, "host"));
  return check(fault.legs, legs, "leg");
}

}  // namespace

StepText describe(const ScheduledFault& scheduled) {
  StepText text{fmt::format("at {} for {}", format_duration(scheduled.start),
                            format_duration(scheduled.duration)),
                scheduled.fault.name};
  const Fault& fault = scheduled.fault;
  if (!fault.hosts.empty()) text.what += " " + boost::algorithm::join(fault.hosts, ",");
  if (!fault.legs.empty()) text.what += " legs=" + boost::algorithm::join(fault.legs, ",");
  for (const auto& [name, value] : fault.parameters) {
    text.what += fmt::format(" {}={}", name, value);
  }
  return text;
}

Result<ScheduledFault> parse_step(const StepText& step, std::span<const FaultChoice> faults,
                                  const Terrain& terrain, Random random) {
  ScheduledFault scheduled;
  ORDEAL_TRY(read_when(step.when, scheduled));
  std::vector<std::string> words = split(step.what, " ");
  if (words.empty()) return bad_input("expected a fault, such as `kill n1`");
  ORDEAL_TRY_ASSIGN(const FaultChoice choice, choice_of(words.front(), faults));
  scheduled.fault = choice.entry->draw(choice.options, terrain, random);
  for (std::size_t i = 1; i < words.size(); ++i) {
    ORDEAL_TRY(set_from(words[i], choice.entry->strikes, scheduled.fault));
  }
  scheduled.fault.hosts = placed(scheduled.fault.hosts, terrain);
  ORDEAL_TRY(check_direction(scheduled.fault));
  ORDEAL_TRY(check_places(scheduled.fault, terrain));
  return scheduled;
}

}  // namespace ordeal
