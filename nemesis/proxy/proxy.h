// A TCP fault proxy: legs, each a listener in front of an upstream, and toxics that a leg's
// connections suffer from, upstream or downstream alone (toxic.h). In the manner of toxiproxy,
// whose HTTP API http_api.h serves.
//
// Changes take effect on live connections too, and have done so when the call returns. No byte
// that was accepted is lost, unless a toxic swallows it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nemesis/proxy/effect.h"
#include "nemesis/proxy/toxic.h"

namespace ordeal::proxy {

enum class LegMode {
  enabled,
  refuse,  // not listening, connections closed: a server that is down
  reset,   // connections reset, new ones accepted and answered by RST
};

std::string_view mode_name(LegMode mode);
Result<LegMode> parse_mode(std::string_view text);

struct LegSpec {
  std::string name;
  std::string listen = "127.0.0.1:0";  // address:port, [v6 address]:port; port 0: any free one
  std::string upstream;                // host:port, resolved anew for each connection
  LegMode mode = LegMode::enabled;
};

// What is given changes; the rest stays.
struct LegChange {
  std::optional<std::string> listen = {};
  std::optional<std::string> upstream = {};
  std::optional<LegMode> mode = {};
};

struct Traffic {
  std::uint64_t received_bytes = 0;   // from the source
  std::uint64_t delivered_bytes = 0;  // to the destination
};

struct LegCounters {
  std::uint64_t accepted = 0;  // connections since the leg was added, those reset at once included
  std::uint64_t open = 0;
  Traffic upstream, downstream;
};

struct LegInfo {
  LegSpec spec;  // `listen` with the actual port, from the first time that it listened
  std::vector<Toxic> toxics;
  std::vector<ToxicEffect> effects;  // of each of the toxics
  LegCounters counters;
};

struct ProxyOptions {
  std::uint64_t seed = 1;  // of all that toxics draw
  unsigned threads = 0;    // that carry data; 0: one a core, four at most
};

// Thread-safe. Not to be called from a thread of the proxy itself, which no caller ever is.
// Errors: bad_input for what the caller must change (unknown leg or toxic included), surroundings
// when an address can't be listened on.
class Proxy {
 public:
  // Fails when no threads or descriptors are left.
  static Result<std::unique_ptr<Proxy>> start(ProxyOptions options = {});
  ~Proxy();  // closes everything
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

  Result<LegInfo> add_leg(LegSpec spec);
  // A new address closes the connections. When it can't be listened on, the leg is left refusing.
  Result<LegInfo> update_leg(std::string_view leg, const LegChange& change);
  Status set_mode(std::string_view leg, LegMode mode);
  Status remove_leg(std::string_view leg);  // closes its connections
  Result<LegInfo> leg(std::string_view leg) const;
  std::vector<LegInfo> legs() const;  // by name
  // Opens a connection through the leg and closes it: for toxics that act only on those that close.
  Status touch(std::string_view leg) const;
  // Opens one, ends it (FIN), and waits until the upstream has ended it in turn, as most servers
  // do: how long that took. Fails with surroundings when it is reset, or takes longer than
  // `within`.
  Result<std::chrono::milliseconds> round_trip(std::string_view leg,
                                               std::chrono::milliseconds within) const;

  // The toxic as it is now, with name and defaults; it goes behind those that the leg has.
  Result<Toxic> add_toxic(std::string_view leg, Toxic toxic);
  // Attributes that are not given stay.
  Result<Toxic> update_toxic(std::string_view leg, std::string_view toxic,
                             const Attributes& attributes, std::optional<double> toxicity = {});
  Status remove_toxic(std::string_view leg, std::string_view toxic);

  // Enables all legs and removes all toxics.
  Status reset();

 private:
  class Impl;
  explicit Proxy(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ordeal::proxy
