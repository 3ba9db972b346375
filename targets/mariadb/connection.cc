#include "targets/mariadb/connection.h"

#include <fmt/format.h>
#include <mysql.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <system_error>
#include <utility>

namespace ordeal::mariadb {
namespace {

using sql::kConnectionLost;
using sql::Problem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Never leaves this file.
struct SessionError : std::exception {
  explicit SessionError(Problem what_happened) : problem(std::move(what_happened)) {}
  const char* what() const noexcept override { return problem.message.c_str(); }
  Problem problem;
};

// Of the exception being handled.
Problem current_problem() {
  try {
    throw;
  } catch (const SessionError& error) {
    return error.problem;
  } catch (const std::exception& error) {
    return {std::string(sql::kClientBug), error.what()};
  }
}

// Errors of the connector itself have numbers from 2000 (errmsg.h) and from 5000; a server's are
// the others. With an error of the connector's the connection is gone, or of no use.
bool is_of_the_server(unsigned number) {
  return number >= 1000 && number < 5000 && (number < 2000 || number >= 3000);
}

Error connection_error(const sql::Endpoint& endpoint, const Problem& problem) {
  if (problem.code == sql::kStopped) return stopped().value();
  return surroundings_error("{}: could not connect to MariaDB at {} port {}: {}: {}", endpoint.host,
                            endpoint.address, endpoint.port,
                            sql::outcome_rule(outcome_rules(), problem.code).name, problem.message)
      .value();
}

sql::Rows rows_of(MYSQL_RES* result) {
  sql::Rows rows;
  const unsigned columns = mysql_num_fields(result);
  while (const MYSQL_ROW row = mysql_fetch_row(result)) {
    const unsigned long* sizes = mysql_fetch_lengths(result);
    auto& fields = rows.rows.emplace_back();
    for (unsigned i = 0; i < columns; ++i) {
      fields.emplace_back(row[i] == nullptr ? "" : row[i], row[i] == nullptr ? 0 : sizes[i]);
    }
  }
  return rows;
}

}  // namespace

// The connector's handle, and the waiting. connect() and send() need a Turn.
class Connection::Session {
 public:
  // What bounds the calls while it lives: the operation's deadline, and a stop request.
  class Turn {
   public:
    Turn(Session& session, std::stop_token stop)
        : on_stop_(std::move(stop), Ring{session.stop_event_}) {
      session.deadline_ = steady_clock::now() + session.endpoint_.operation_timeout;
    }

   private:
    struct Ring {
      int event;
      void operator()() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(event, &one, sizeof(one));
      }
    };
    std::stop_callback<Ring> on_stop_;
  };

  explicit Session(sql::Endpoint endpoint)
      : endpoint_(std::move(endpoint)), stop_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    static const int library = mysql_library_init(0, nullptr, nullptr);
    if (stop_event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    mysql_ = library == 0 ? mysql_init(nullptr) : nullptr;
    if (mysql_ == nullptr) throw std::bad_alloc();
    mysql_options(mysql_, MYSQL_OPT_NONBLOCK, nullptr);
    const unsigned off = 0;
    mysql_options(mysql_, MYSQL_OPT_LOCAL_INFILE, &off);  // servers must not ask for files
  }
  ~Session() {
    mysql_close(mysql_);
    ::close(stop_event_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const sql::Endpoint& endpoint() const { return endpoint_; }
  bool connected() const { return connected_; }

  // No transaction can follow.
  void end() { connected_ = false; }

  void connect(std::string_view isolation) {
    MYSQL* result = nullptr;
    int status = mysql_real_connect_start(&result, mysql_, endpoint_.address.c_str(), kUser, "",
                                          kDatabase, static_cast<unsigned>(endpoint_.port), nullptr,
                                          CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS);
    while (status != 0) status = mysql_real_connect_cont(&result, mysql_, wait(status));
    if (result == nullptr) fail();
    connected_ = true;
    send(fmt::format("SET SESSION TRANSACTION ISOLATION LEVEL {}; SET autocommit = 0",
                     sql::sql_isolation(isolation)));
  }

  // Rows are the last statement's, where there are several. Throws SessionError.
  sql::Rows send(const std::string& sql) {
    if (!connected_) {
      throw SessionError({std::string(kConnectionLost), "connection was lost before"});
    }
    int failed = 0;
    int status = mysql_real_query_start(&failed, mysql_, sql.data(), sql.size());
    while (status != 0) status = mysql_real_query_cont(&failed, mysql_, wait(status));
    if (failed != 0) fail();
    sql::Rows rows = result();
    while (more()) rows = result();
    return rows;
  }

 private:
  sql::Rows result() {
    MYSQL_RES* stored = nullptr;
    int status = mysql_store_result_start(&stored, mysql_);
    while (status != 0) status = mysql_store_result_cont(&stored, mysql_, wait(status));
    const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> owner(stored, mysql_free_result);
    if (stored != nullptr) return rows_of(stored);
    if (mysql_errno(mysql_) != 0) fail();
    return {.rows = {}, .affected = mysql_affected_rows(mysql_)};
  }

  // Whether there is another result, which then is the current one.
  bool more() {
    int found = 0;
    int status = mysql_next_result_start(&found, mysql_);
    while (status != 0) status = mysql_next_result_cont(&found, mysql_, wait(status));
    if (found > 0) fail();
    return found == 0;
  }

  // For a suspended call: what it wants to know of, as the connector's flags.
  int wait(int wanted) {
    short events = 0;
    if ((wanted & MYSQL_WAIT_READ) != 0) events |= POLLIN;
    if ((wanted & MYSQL_WAIT_WRITE) != 0) events |= POLLOUT;
    if ((wanted & MYSQL_WAIT_EXCEPT) != 0) events |= POLLPRI;
    std::array<pollfd, 2> polled = {
        {{mysql_get_socket(mysql_), events, 0}, {stop_event_, POLLIN, 0}}};
    do {
      const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now()).count();
      ::poll(polled.data(), polled.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
      if (polled[1].revents != 0) return give_up(sql::kStopped, "the run was stopped");
      if (polled[0].revents == 0 && steady_clock::now() >= deadline_) {
        return give_up(sql::kTimedOut,
                       fmt::format("no answer within {} ms", endpoint_.operation_timeout.count()));
      }
    } while (polled[0].revents == 0);
    const auto has = [&](int bits) { return (polled[0].revents & bits) != 0; };
    return (has(POLLIN | POLLHUP | POLLERR) ? wanted & MYSQL_WAIT_READ : 0) |
           (has(POLLOUT | POLLHUP | POLLERR) ? wanted & MYSQL_WAIT_WRITE : 0) |
           (has(POLLPRI) ? wanted & MYSQL_WAIT_EXCEPT : 0);
  }

  int give_up(std::string_view code, std::string message) {
    given_up_ = {std::string(code), std::move(message)};
    return MYSQL_WAIT_TIMEOUT;
  }

  [[noreturn]] void fail() {
    const unsigned number = mysql_errno(mysql_);
    if (is_of_the_server(number)) {
      throw SessionError({std::to_string(number), mysql_error(mysql_)});
    }
    connected_ = false;
    if (!given_up_.code.empty()) throw SessionError(given_up_);
    throw SessionError({std::string(kConnectionLost), mysql_error(mysql_)});
  }

  sql::Endpoint endpoint_;
  int stop_event_;
  MYSQL* mysql_ = nullptr;
  bool connected_ = false;
  steady_clock::time_point deadline_;
  Problem given_up_;  // why a wait was ended by us
};

Connection::Connection(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const sql::Endpoint& endpoint,
                                                     std::string_view isolation,
                                                     std::stop_token stop) {
  try {
    auto session = std::make_unique<Session>(endpoint);
    const Session::Turn turn(*session, std::move(stop));
    session->connect(isolation);
    return std::unique_ptr<Connection>(new Connection(std::move(session)));
  } catch (...) {
    return tl::unexpected(connection_error(endpoint, current_problem()));
  }
}

// A member of a Galera cluster lets clients connect before it serves them.
Status Connection::probe(const sql::Endpoint& endpoint, std::stop_token stop) {
  try {
    Session session(endpoint);
    const Session::Turn turn(session, std::move(stop));
    session.connect("read-committed");
    session.send("SELECT COUNT(*) FROM durable");
    return {};
  } catch (...) {
    const Problem problem = current_problem();
    if (problem.code == kTooManyConnections) return {};
    return tl::unexpected(connection_error(endpoint, problem));
  }
}

bool Connection::connected() const { return session_->connected(); }

Status Connection::execute(const std::string& sql, std::stop_token stop) {
  const Session::Turn turn(*session_, std::move(stop));
  try {
    session_->send(sql);
    session_->send("COMMIT");
    return {};
  } catch (...) {
    const Problem problem = current_problem();
    roll_back();
    if (problem.code == sql::kStopped) return stopped();
    return surroundings_error("{}: MariaDB could not carry out \"{}\": {}",
                              session_->endpoint().host, sql, problem.message);
  }
}

std::optional<Outcome> Connection::transact(std::stop_token stop, const sql::Body& body) {
  const Session::Turn turn(*session_, std::move(stop));
  auto stage = sql::Stage::before_commit;
  try {
    if (auto note = body([&](const std::string& sql) { return session_->send(sql); })) {
      session_->send("ROLLBACK");
      return Fail{std::move(*note)};
    }
    stage = sql::Stage::committing;
    session_->send("COMMIT");
    return std::nullopt;
  } catch (...) {
    const Problem problem = current_problem();
    const bool lost = !connected();
    roll_back();
    return sql::outcome_of(sql::outcome_rule(outcome_rules(), problem.code), problem, stage, lost);
  }
}

// What is open must not be committed together with the next transaction. Without a connection the
// server rolls back by itself.
void Connection::roll_back() {
  try {
    if (connected()) session_->send("ROLLBACK");
  } catch (const std::exception&) {
    session_->end();
  }
}

}  // namespace ordeal::mariadb
