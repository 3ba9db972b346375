// Schedules as people write and read them.
#include <fmt/format.h>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>
#include <set>

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

Result<std::vector<std::string>> names_in(const std::string& word, const std::string& list) {
  std::vector<std::string> names = split(list, ",");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) ==
        names.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;
    }
    return bad_input("\"{}\": {} is named twice", word, names[i]);
  }
  if (names.empty()) return bad_input("\"{}\": expected names with commas between them", word);
  return names;
}

tl::unexpected<Error> no_such_parameter(const std::string& word, bool of_legs, const Fault& fault) {
  std::vector<std::string> known;
  if (of_legs) known.push_back("legs");
  for (const auto& [name, value] : fault.parameters) known.push_back(name);
  return bad_input("\"{}\": fault {} has no such parameter; known: {}", word, fault.name,
                   known.empty() ? "none" : boost::algorithm::join(known, ", "));
}

constexpr const char* kHosts = "hosts";  // has no name in the text

// `written` are the names of what was set before.
Status set_from(const std::string& word, Strikes strikes, Fault& fault,
                std::set<std::string>& written) {
  const std::size_t equals = word.find('=');
  const bool of_legs = strikes == Strikes::legs;
  const bool of_hosts = equals == std::string::npos;
  const std::string name = of_hosts ? kHosts : word.substr(0, equals);
  if (of_hosts && of_legs) {
    return bad_input("\"{}\": fault {} strikes legs, as in `legs=client-db`, and takes no hosts",
                     word, fault.name);
  }
  if (!written.insert(name).second) {
    return bad_input("\"{}\": {} of fault {} {} twice{}", word, name, fault.name,
                     of_hosts ? "are named" : "is set",
                     of_hosts ? "; expected one list, such as `n1,n2`" : "");
  }
  if (of_hosts) {
    ORDEAL_TRY_ASSIGN(fault.hosts, names_in(word, word));
  } else if (of_legs && name == "legs") {
    ORDEAL_TRY_ASSIGN(fault.legs, names_in(word, word.substr(equals + 1)));
  } else if (fault.parameters.count(name) != 0) {
    fault.parameters[name] = word.substr(equals + 1);
  } else {
    return no_such_parameter(word, of_legs, fault);
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
    bool is_role = false;
    for (const Terrain::Server& server : terrain.servers) {
      if (!has_role(server, name)) continue;
      is_role = true;
      if (std::find(hosts.begin(), hosts.end(), server.host) == hosts.end()) {
        hosts.push_back(server.host);
      }
    }
    if (!is_role) hosts.push_back(name);
  }
  return hosts;
}

Status check_places(const Fault& fault, const Terrain& terrain) {
  if (fault.hosts.empty() && fault.legs.empty()) {
    return bad_input("fault {} finds nothing to strike; change its settings, or `legs:`",
                     fault.name);
  }
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
  std::set<std::string> written;
  for (std::size_t i = 1; i < words.size(); ++i) {
    ORDEAL_TRY(set_from(words[i], choice.entry->strikes, scheduled.fault, written));
  }
  scheduled.fault.hosts = placed(scheduled.fault.hosts, terrain);
  if (choice.entry->settle != nullptr) {
    ORDEAL_TRY(choice.entry->settle(scheduled.fault, written));
  }
  ORDEAL_TRY(check_direction(scheduled.fault));
  ORDEAL_TRY(check_places(scheduled.fault, terrain));
  return scheduled;
}

}  // namespace ordeal
