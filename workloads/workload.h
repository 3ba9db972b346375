// What clients do: which objects, which operations, judged by which checker. A workload makes one
// generator per worker; each draws from its own seeded Random and depends on no timing, so that one
// seed gives one sequence of operations per worker.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/options.h"
#include "base/random.h"
#include "history/operation.h"

namespace ordeal {

struct Invocation {
  std::string function;
  Payload payload;
};

// Used by one thread.
class Generator {
 public:
  virtual ~Generator() = default;
  virtual Invocation next() = 0;
  // Operations of the final phase, after all faults are healed: e.g. one read of everything.
  // nullopt at the end.
  virtual std::optional<Invocation> next_final() { return std::nullopt; }
};

class Workload {
 public:
  virtual ~Workload() = default;
  // The generator of worker `worker`, 0 .. workers - 1. `random` is the worker's own.
  virtual std::unique_ptr<Generator> generator(std::size_t worker, std::size_t workers,
                                               Random random) const = 0;
};

struct WorkloadEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const std::string_view> checkers;  // that can judge it; the first does by default
  std::span<const OptionSpec> options;
  Result<std::unique_ptr<Workload>> (*make)(const Options& options);
};

std::span<const WorkloadEntry> workload_catalog();

}  // namespace ordeal
