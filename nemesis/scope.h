// Where a fault strikes: the settings that all faults share, and the drawing of hosts, legs and
// directions from what there is.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "nemesis/nemesis.h"

namespace ordeal {

inline constexpr std::string_view kHostChoices[] = {"one",      "some", "minority",
                                                    "majority", "all",  "random"};
inline constexpr std::string_view kDirectionChoices[] = {"upstream", "downstream", "both",
                                                         "random"};

// For faults that strike servers one by one.
inline constexpr OptionSpec kHostsOption{
    .name = "hosts",
    .default_value = "random",
    .summary = "how many servers are struck, drawn anew each time; random: one, some or all",
    .choices = kHostChoices};
inline constexpr OptionSpec kRoleOption{
    .name = "role",
    .default_value = "",
    .summary = "only servers of this role, e.g. primary, or of this system; empty: of all"};

// For faults that destroy data (FaultEntry::dangerous).
inline constexpr OptionSpec kDangerousOption{
    .name = "dangerous",
    .type = OptionType::boolean,
    .default_value = "false",
    .summary = "must be true, since this fault destroys data for good"};

// For faults that strike connections.
inline constexpr OptionSpec kLegsOption{.name = "legs",
                                        .type = OptionType::list,
                                        .default_value = "",
                                        .summary =
                                            "one of these connections, e.g. client-db; "
                                            "empty: one of all that the fault can reach"};
inline constexpr OptionSpec kDirectionOption{
    .name = "direction",
    .default_value = "random",
    .summary = "upstream (to the server), downstream (from it), both, or drawn each time",
    .choices = kDirectionChoices};

// Of `role` itself, or of the system of that name: "db" has servers of roles db, db.primary, ...;
// every server is of role "".
bool has_role(const Terrain::Server& server, std::string_view role);
// By kHostsOption and kRoleOption, where they are among the options; in the order of the terrain,
// and at least one where there is any.
std::vector<std::string> draw_servers(const Options& options, const Terrain& terrain,
                                      Random& random);
// By kLegsOption; "" where there is none.
std::string draw_leg(const Options& options, const Terrain& terrain, Random& random);
// By kDirectionOption.
std::string draw_direction(const Options& options, Random& random);

// A fault on one drawn leg, in a drawn direction; no leg where there is none.
Fault draw_on_leg(std::string name, const Options& options, const Terrain& terrain, Random& random,
                  std::map<std::string, std::string> parameters);

// How much of `of` hosts so many are: "one", "some" or "all" (one of one is "all").
std::string_view share_of(std::size_t hosts, std::size_t of);

template <class T>
std::vector<T> shuffled(std::vector<T> items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
  return items;
}

}  // namespace ordeal
