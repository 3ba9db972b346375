// Sections of a campaign that choose entries of a catalogue, and give them their settings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "orchestrator/campaign.h"
#include "orchestrator/campaign_hosts.h"
#include "orchestrator/campaign_yaml.h"

namespace ordeal {

template <class Entry>
Result<const Entry*> find_entry(std::string_view kind, const std::string& where,
                                const std::string& name, std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
  }
  return bad_input("{}: {}", where, unknown_name(kind, name, names_of(entries)));
}

// `item` is a name and its settings, at `path` and below it.
template <class Entry>
Result<Chosen<Entry>> choose_entry(const Origin& origin, std::string_view kind,
                                   const std::string& path, const YAML::Node& name,
                                   const YAML::Node& settings, std::span<const Entry> entries,
                                   const Hosts& hosts) {
  const std::string where = origin.of(path, name);
  ORDEAL_TRY_ASSIGN(const Entry* entry, find_entry(kind, where, name.Scalar(), entries));
  ORDEAL_TRY_ASSIGN(Options::Given given, flatten(origin, path, settings));
  const std::string owner = std::string(kind) + " " + name.Scalar();
  ORDEAL_TRY(place_hosts(owner, entry->options, hosts, given));
  ORDEAL_TRY_ASSIGN(Options options, Options::make(owner, entry->options, given));
  return Chosen<Entry>{entry, std::move(options), where};
}

// The section is a map with entries of one catalogue as keys and their settings as values.
template <class Entry>
Result<std::vector<Chosen<Entry>>> choose_entries(const Origin& origin, std::string_view kind,
                                                  const std::string& name,
                                                  const YAML::Node& section,
                                                  std::span<const Entry> entries,
                                                  const Hosts& hosts = {}) {
  std::vector<Chosen<Entry>> chosen;
  if (!section || section.IsNull()) return chosen;
  if (!section.IsMap()) {
    return bad_input("{}: expected a map from {} to its settings", origin.of(name, section), kind);
  }
  for (const auto& item : section) {
    ORDEAL_TRY_ASSIGN(
        auto one, choose_entry(origin, kind, name + "." + item.first.as<std::string>(), item.first,
                               item.second, entries, hosts));
    chosen.push_back(std::move(one));
  }
  return chosen;
}

// As above; exactly one.
template <class Entry>
Result<Chosen<Entry>> choose_one_entry(const Origin& origin, const std::string& kind,
                                       const YAML::Node& section, std::span<const Entry> entries,
                                       const Hosts& hosts = {}) {
  ORDEAL_TRY_ASSIGN(auto chosen, choose_entries(origin, kind, kind, section, entries, hosts));
  if (chosen.size() == 1) return std::move(chosen.front());
  if (chosen.empty()) {
    return bad_input("{}: expected exactly one {}, e.g. `{}: {{{}: {{}}}}`",
                     origin.of(kind, section), kind, kind,
                     entries.empty() ? "..." : entries.front().name);
  }
  std::string names;
  std::string where;  // of the last one
  for (const auto& item : section) {
    names += (names.empty() ? "" : ", ") + item.first.Scalar();
    where = origin.of(kind + "." + item.first.Scalar(), item.first);
  }
  return bad_input("{}: expected exactly one {}, not {}", where, kind, names);
}

}  // namespace ordeal
