// A connection to one member of etcd, by its JSON gateway, that carries out reads and conditional
// writes and says what became of them.
//
// One connection is used by one thread. Once an answer was lost, it is of no more use.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "targets/etcd/http.h"
#include "targets/etcd/messages.h"
#include "targets/etcd/outcomes.h"

namespace ordeal::etcd {

struct Endpoint {
  std::string host;  // for messages
  std::string address;
  int port = 0;
  std::chrono::milliseconds operation_timeout{5000};
};

// Bounds a whole operation, of several requests.
struct Limits {
  std::chrono::steady_clock::time_point deadline;
  std::stop_token stop;
};

class Connection {
 public:
  template <class T>
  using Answer = tl::expected<T, Problem>;

  // Asks the member for its status, which it answers by itself, so that what accepts connections
  // but is no etcd, or is frozen, is found out. The error is about surroundings.
  static Result<std::unique_ptr<Connection>> open(const Endpoint& endpoint, std::stop_token stop);

  // All keys at one revision. Linearizable: the member asks the leader for the newest revision and
  // waits until it has it. Serializable: it answers from what it has.
  Answer<std::vector<Found>> read(const std::vector<std::string>& keys, bool serializable,
                                  const Limits& limits);
  // All puts at once if all compared keys are as they were found; false: nothing was done.
  Answer<bool> write(const std::vector<Compare>& compares, const std::vector<Put>& puts,
                     const Limits& limits);
  Answer<std::vector<std::string>> members(const Limits& limits);  // names, as this one knows them
  Status clear(std::stop_token stop);                              // removes all keys

  bool connected() const { return connected_; }
  Limits limits(std::stop_token stop) const;

 private:
  explicit Connection(const Endpoint& endpoint);
  Answer<std::string> post(const char* path, const std::string& json, const Limits& limits);

  Endpoint endpoint_;
  HttpConnection http_;
  bool connected_ = true;
};

// The member has a leader with a quorum, and counts members of these names.
Status probe(const Endpoint& endpoint, const std::vector<std::string>& names, std::stop_token stop);

}  // namespace ordeal::etcd
