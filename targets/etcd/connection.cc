#include "targets/etcd/connection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "targets/etcd/server_scripts.h"

namespace ordeal::etcd {
namespace {

using std::chrono::steady_clock;

constexpr long kHttpOk = 200;

tl::unexpected<Problem> unexpected_answer(const std::string& text) {
  constexpr std::size_t kShown_bytes = 200;
  return tl::unexpected(
      Problem{std::string(kUnexpected), fmt::format("\"{}\"", text.substr(0, kShown_bytes))});
}

tl::unexpected<Error> error_of(const Endpoint& endpoint, std::string_view what,
                               const Problem& problem) {
  if (problem.code == kStopped) return stopped();
  return surroundings_error("{}: could not {} etcd at {} port {}: {}: {}", endpoint.host, what,
                            endpoint.address, endpoint.port, outcome_rule(problem.code).name,
                            problem.message);
}

}  // namespace

Connection::Connection(const Endpoint& endpoint)
    : endpoint_(endpoint), http_(url(endpoint.address, endpoint.port)) {}

Limits Connection::limits(std::stop_token stop) const {
  return {steady_clock::now() + endpoint_.operation_timeout, std::move(stop)};
}

Connection::Answer<std::string> Connection::post(const char* path, const std::string& json,
                                                 const Limits& limits) {
  auto reply = http_.post(path, json, limits.deadline, limits.stop);
  if (const auto* failure = std::get_if<HttpFailure>(&reply)) {
    connected_ = false;
    return tl::unexpected(problem_of(*failure));
  }
  auto& answer = std::get<HttpAnswer>(reply);
  if (answer.status == kHttpOk) return std::move(answer.body);
  if (auto error = error_answer(answer.body)) return tl::unexpected(Problem{*error, *error});
  return unexpected_answer(answer.body);
}

Result<std::unique_ptr<Connection>> Connection::open(const Endpoint& endpoint,
                                                     std::stop_token stop) {
  std::unique_ptr<Connection> connection(new Connection(endpoint));
  const auto limits = connection->limits(std::move(stop));
  if (const auto answer = connection->post("/v3/maintenance/status", "{}", limits); !answer) {
    return error_of(endpoint, "connect to", answer.error());
  }
  return connection;
}

Connection::Answer<std::vector<Found>> Connection::read(const std::vector<std::string>& keys,
                                                        bool serializable, const Limits& limits) {
  const auto answer = post("/v3/kv/txn", read_request(keys, serializable), limits);
  if (!answer) return tl::unexpected(answer.error());
  if (auto found = read_answer(*answer, keys.size())) return std::move(*found);
  return unexpected_answer(*answer);
}

Connection::Answer<bool> Connection::write(const std::vector<Compare>& compares,
                                           const std::vector<Put>& puts, const Limits& limits) {
  const auto answer = post("/v3/kv/txn", write_request(compares, puts), limits);
  if (!answer) return tl::unexpected(answer.error());
  if (const auto done = write_answer(*answer)) return *done;
  return unexpected_answer(*answer);
}

Connection::Answer<std::vector<std::string>> Connection::members(const Limits& limits) {
  const auto answer = post("/v3/cluster/member/list", "{}", limits);
  if (!answer) return tl::unexpected(answer.error());
  if (auto names = members_answer(*answer)) return std::move(*names);
  return unexpected_answer(*answer);
}

Status Connection::clear(std::stop_token stop) {
  const auto answer = post("/v3/kv/deleterange", clear_request(), limits(std::move(stop)));
  if (answer) return {};
  return error_of(endpoint_, "remove all keys of", answer.error());
}

Status probe(const Endpoint& endpoint, const std::vector<std::string>& names,
             std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(const auto connection, Connection::open(endpoint, stop));
  const auto members = connection->members(connection->limits(stop));
  if (!members) return error_of(endpoint, "ask for the members of", members.error());
  for (const std::string& name : names) {
    if (std::find(members->begin(), members->end(), name) != members->end()) continue;
    return surroundings_error("etcd does not count {} as a member yet, only {}", name,
                              fmt::join(*members, ", "));
  }
  const auto read = connection->read({"ordeal/ready"}, false, connection->limits(std::move(stop)));
  if (!read) return error_of(endpoint, "read from", read.error());
  return {};
}

}  // namespace ordeal::etcd
