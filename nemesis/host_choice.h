// Which hosts a fault strikes, and the drawing of orders.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/random.h"

namespace ordeal {

// Setting `hosts` of every fault that strikes hosts one by one.
inline constexpr std::string_view kHostChoices[] = {"one", "minority", "majority", "all"};
inline constexpr OptionSpec kHostsOption{
    .name = "hosts",
    .default_value = "one",
    .summary = "which hosts are struck: one at random, or so many at random",
    .choices = kHostChoices};

// `choice` is one of kHostChoices. In the order of `hosts`; at least one where there is any.
std::vector<std::string> draw_hosts(std::string_view choice, const std::vector<std::string>& hosts,
                                    Random& random);

template <class T>
std::vector<T> shuffled(std::vector<T> items, Random& random) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::swap(items[left - 1], items[random.below(left)]);
  }
  return items;
}

}  // namespace ordeal
