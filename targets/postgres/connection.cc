#include "targets/postgres/connection.h"

#include <libpq-fe.h>
#include <unistd.h>

#include <algorithm>
#include <pqxx/connection>
#include <pqxx/errorhandler>
#include <pqxx/nontransaction>
#include <pqxx/result>
#include <utility>

#include "targets/postgres/socket_deadline.h"

namespace ordeal::postgres {
namespace {

using sql::Endpoint;
using sql::kConnectionLost;
using sql::kStopped;
using sql::kTimedOut;
using sql::Problem;
using std::chrono::steady_clock;

// A duplicate of a connection's socket, closed by us alone.
class SocketCopy {
 public:
  explicit SocketCopy(int socket) : copy_(socket < 0 ? -1 : ::dup(socket)) {}
  ~SocketCopy() {
    if (copy_ >= 0) ::close(copy_);
  }
  SocketCopy(const SocketCopy&) = delete;
  SocketCopy& operator=(const SocketCopy&) = delete;
  int get() const { return copy_; }

 private:
  int copy_;
};

// One address and neither TLS nor GSS: one socket from the first packet on, which a deadline can
// watch.
std::string connection_string(const Endpoint& endpoint) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(endpoint.operation_timeout).count();
  return fmt::format(
      "hostaddr={} port={} user=postgres dbname=postgres application_name=ordeal "
      "sslmode=disable gssencmode=disable connect_timeout={}",
      endpoint.address, endpoint.port, std::max<std::int64_t>(seconds, 2));
}

// libpqxx's own connections don't let out libpq's handle, and with a lost connection they lose the
// reason that the server gave for it.
class Policy : public pqxx::connect_async {
 public:
  using connect_async::connect_async;
  handle do_startconnect(handle orig) override {
    handle_ = connect_async::do_startconnect(orig);
    // For the SQLSTATE, also of a refusal to connect.
    if (handle_ != nullptr) PQsetErrorVerbosity(handle_, PQERRORS_VERBOSE);
    return handle_;
  }
  handle do_completeconnect(handle orig) override {
    return handle_ = connect_async::do_completeconnect(orig);
  }
  handle do_dropconnect(handle orig) noexcept override {
    return handle_ = connect_async::do_dropconnect(orig);
  }
  handle do_disconnect(handle orig) noexcept override {
    return handle_ = connect_async::do_disconnect(orig);
  }
  std::string last_error() const { return handle_ == nullptr ? "" : PQerrorMessage(handle_); }

 private:
  handle handle_ = nullptr;
};

class AsyncConnection : public pqxx::connection_base {
 public:
  explicit AsyncConnection(const std::string& options)
      : connection_base(policy_), policy_(options) {
    init();  // begins to connect
  }
  ~AsyncConnection() { close(); }
  std::string last_error() const { return policy_.last_error(); }

 private:
  Policy policy_;
};

// Waits until connected; throws. From then on libpqxx must not silently replace a lost connection,
// for with it goes the knowledge of what became of a transaction. Both calls are deprecated without
// replacement.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void complete(pqxx::connection_base& connection) {
  connection.activate();
  connection.inhibit_reactivation(true);
}
#pragma GCC diagnostic pop

// Of the exception being handled. A socket that we shut down ourselves gets an error of its own:
// "server closed the connection" would blame the server.
Problem explained(const std::string& last_error, SocketDeadline::Cause cause,
                  std::chrono::milliseconds operation_timeout) {
  Problem problem = current_problem();
  if (problem.code != kConnectionLost) return problem;  // the server was faster
  if (cause == SocketDeadline::Cause::time_out) {
    return {std::string(kTimedOut),
            fmt::format("no answer within {} ms", operation_timeout.count())};
  }
  if (cause == SocketDeadline::Cause::stop) {
    return {std::string(kStopped), "the run was stopped"};
  }
  return last_error.empty() ? problem : server_problem(last_error);
}

sql::Rows rows_of(const pqxx::result& result) {
  sql::Rows rows{.rows = {}, .affected = result.affected_rows()};
  for (const auto& row : result) {
    auto& fields = rows.rows.emplace_back();
    for (const auto& field : row) fields.emplace_back(field.c_str(), field.size());
  }
  return rows;
}

Error connection_error(const Endpoint& endpoint, const Problem& problem) {
  if (problem.code == kStopped) return stopped().value();
  return surroundings_error("{}: could not connect to PostgreSQL at {} port {}: {}: {}",
                            endpoint.host, endpoint.address, endpoint.port,
                            sql::outcome_rule(outcome_rules(), problem.code).name, problem.message)
      .value();
}

}  // namespace

struct Connection::Parts {
  explicit Parts(const Endpoint& to)
      : endpoint(to), connection(connection_string(to)), socket(connection.sock()) {}

  Problem problem(const SocketDeadline& watch) const {
    return explained(connection.last_error(), watch.cause(), endpoint.operation_timeout);
  }

  SocketDeadline deadline(std::stop_token stop) const {
    return {socket.get(), steady_clock::now() + endpoint.operation_timeout, std::move(stop)};
  }

  Endpoint endpoint;
  std::string begin;           // "BEGIN ISOLATION LEVEL ...; "
  std::string prepare;         // cleared once done
  AsyncConnection connection;  // connecting when constructed
  SocketCopy socket;
  std::optional<pqxx::quiet_errorhandler> quiet;
  std::optional<pqxx::nontransaction> statements;  // adds no statement of its own
  bool in_failed_transaction = false;
};

Connection::Connection(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Connection::~Connection() = default;

Connection::Attempt Connection::attempt_open(const Endpoint& endpoint, std::string begin,
                                             std::string prepare, std::stop_token stop) {
  auto cause = SocketDeadline::Cause::none;
  std::string refusal;
  try {
    auto parts = std::make_unique<Parts>(endpoint);
    parts->begin = std::move(begin);
    parts->prepare = std::move(prepare);
    const SocketDeadline deadline = parts->deadline(std::move(stop));
    try {
      complete(parts->connection);
    } catch (const std::exception& error) {
      cause = deadline.cause();
      refusal = error.what();
      throw;
    }
    parts->connection.set_verbosity(pqxx::connection_base::verbose);  // for the SQLSTATE
    parts->quiet.emplace(parts->connection);
    parts->statements.emplace(parts->connection);
    return std::unique_ptr<Connection>(new Connection(std::move(parts)));
  } catch (...) {
    return tl::unexpected(explained(refusal, cause, endpoint.operation_timeout));
  }
}

Result<std::unique_ptr<Connection>> Connection::open(const Endpoint& endpoint,
                                                     std::string_view isolation,
                                                     std::string prepare, std::stop_token stop) {
  auto begin = fmt::format("BEGIN ISOLATION LEVEL {}; ", sql::sql_isolation(isolation));
  auto opened = attempt_open(endpoint, std::move(begin), std::move(prepare), std::move(stop));
  if (opened) return std::move(*opened);
  return tl::unexpected(connection_error(endpoint, opened.error()));
}

Status Connection::probe(const Endpoint& endpoint, std::stop_token stop) {
  const auto opened = attempt_open(endpoint, "", "", std::move(stop));
  if (opened || opened.error().code == kTooManyConnections) return {};
  return tl::unexpected(connection_error(endpoint, opened.error()));
}

bool Connection::connected() const { return parts_->connection.is_open(); }

sql::Rows Connection::send(const std::string& sql) {
  if (!connected()) throw pqxx::broken_connection("connection was lost before");
  return rows_of(parts_->statements->exec(sql));
}

Status Connection::execute(const std::string& sql, std::stop_token stop) {
  const SocketDeadline deadline = parts_->deadline(std::move(stop));
  try {
    send(sql);
    return {};
  } catch (...) {
    const Problem problem = parts_->problem(deadline);
    if (problem.code == kStopped) return stopped();
    return surroundings_error("{}: PostgreSQL could not carry out \"{}\": {}",
                              parts_->endpoint.host, sql, problem.message);
  }
}

std::optional<Outcome> Connection::transact(std::stop_token stop, const sql::Body& body) {
  const SocketDeadline deadline = parts_->deadline(std::move(stop));
  auto stage = sql::Stage::before_commit;
  try {
    return attempt(body, stage);
  } catch (...) {
    parts_->in_failed_transaction = true;
    const Problem problem = parts_->problem(deadline);
    return sql::outcome_of(sql::outcome_rule(outcome_rules(), problem.code), problem, stage,
                           !connected());
  }
}

std::optional<Outcome> Connection::attempt(const sql::Body& body, sql::Stage& stage) {
  if (!parts_->prepare.empty()) {
    // PREPARE is not undone by a rollback, so an attempt that failed half-way has left some.
    send((parts_->in_failed_transaction ? "ROLLBACK; DEALLOCATE ALL; " : "DEALLOCATE ALL; ") +
         parts_->prepare);
    parts_->in_failed_transaction = false;
    parts_->prepare.clear();
  }
  bool begun = false;
  const sql::Execute execute = [&](const std::string& sql) {
    if (std::exchange(begun, true)) return send(sql);
    // A failed transaction has let go of its locks already; its ROLLBACK can wait to travel along.
    const char* rollback = parts_->in_failed_transaction ? "ROLLBACK; " : "";
    auto rows = send(rollback + parts_->begin + sql);
    parts_->in_failed_transaction = false;
    return rows;
  };
  if (auto note = body(execute)) {
    if (begun) send("ROLLBACK");
    return Fail{std::move(*note)};
  }
  stage = sql::Stage::committing;
  if (begun) send("COMMIT");
  return std::nullopt;
}

}  // namespace ordeal::postgres
