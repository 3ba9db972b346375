// A real cluster of etcd on this machine for a test, and transactions on it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/targets/server_fixture.h"

namespace ordeal {

class EtcdCluster : public ServerFixture {
 public:
  // Does not start anything; `settings` are the target's.
  explicit EtcdCluster(std::size_t hosts, ServerSettings settings = {},
                       std::string workload = "register")
      : ServerFixture({.target = "etcd",
                       .settings = with_peer_port(std::move(settings)),
                       .workload = std::move(workload),
                       .hosts = hosts}) {}

 private:
  static ServerSettings with_peer_port(ServerSettings settings) {
    settings.emplace("peer-port", std::to_string(free_port()));
    return settings;
  }
};

inline MicroOp read_op(std::int64_t key) { return {MicroFunction::read, Value(key), {}, {}}; }
inline MicroOp write_op(std::int64_t key, std::int64_t value) {
  return {MicroFunction::write, Value(key), Value(value), {}};
}
inline MicroOp append_op(std::int64_t key, std::int64_t element) {
  return {MicroFunction::append, Value(key), Value(element), {}};
}

// "ok" and what was read ("3 nil [1,2]"), "fail NOTE" or "info NOTE".
std::string invoke(Client& client, std::vector<MicroOp> micro_ops);

}  // namespace ordeal
