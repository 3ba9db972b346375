// What the tests of workloads share: a generator made from settings, and its first operations.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace ordeal {

using Given = std::map<std::string, std::string>;

inline Result<std::unique_ptr<Workload>> try_workload(std::string_view name,
                                                      const Given& settings) {
  const auto catalog = workload_catalog();
  const auto entry = std::find_if(catalog.begin(), catalog.end(),
                                  [&](const WorkloadEntry& e) { return e.name == name; });
  REQUIRE(entry != catalog.end());
  Options::Given given;
  for (const auto& [key, value] : settings) given[key] = {value, "test"};
  ORDEAL_TRY_ASSIGN(const auto options, Options::make(name, entry->options, given));
  return entry->make(options);
}

inline std::unique_ptr<Generator> make_generator(std::string_view name, const Given& settings,
                                                 std::size_t worker, std::size_t workers,
                                                 std::uint64_t seed = 1) {
  auto workload = try_workload(name, settings);
  REQUIRE(workload);
  const auto label = "worker " + std::to_string(worker);
  return (*workload)->generator(worker, workers, Random(seed).derive(label));
}

inline std::vector<Payload> draw(Generator& generator, std::size_t count) {
  std::vector<Payload> payloads;
  for (std::size_t i = 0; i < count; ++i) payloads.push_back(generator.next().payload);
  return payloads;
}

inline std::vector<Payload> draw_final(Generator& generator) {
  std::vector<Payload> payloads;
  while (auto invocation = generator.next_final()) payloads.push_back(invocation->payload);
  return payloads;
}

}  // namespace ordeal
