#include "targets/postgres/list_append_client.h"

#include <charconv>
#include <pqxx/result>
#include <stdexcept>
#include <utility>

namespace ordeal::postgres {
namespace {

constexpr const char* kSetup =
    "DROP TABLE IF EXISTS lists;"
    "CREATE TABLE lists (id bigint PRIMARY KEY, value text NOT NULL)";
constexpr const char* kPrepare =
    "PREPARE r(bigint) AS SELECT value FROM lists WHERE id = $1;"
    "PREPARE a(bigint, text) AS INSERT INTO lists AS l (id, value) VALUES ($1, $2) "
    "ON CONFLICT (id) DO UPDATE SET value = CONCAT(l.value, ',', EXCLUDED.value)";

// "1,2,3". Anything else in the column was not written by this client: throws.
std::vector<Value> parse_list(const char* text, std::size_t size) {
  std::vector<Value> list;
  for (const char *at = text, *end = text + size; at != end;) {
    std::int64_t element = 0;
    const auto parsed = std::from_chars(at, end, element);
    if (parsed.ec != std::errc{} || (parsed.ptr != end && *parsed.ptr != ',')) {
      throw std::runtime_error(fmt::format("lists.value is no list of numbers: \"{}\"", text));
    }
    list.emplace_back(element);
    at = parsed.ptr == end ? end : parsed.ptr + 1;
  }
  return list;
}

void carry_out(MicroOp& micro_op, const Connection::Execute& execute) {
  if (micro_op.function == MicroFunction::append) {
    execute(fmt::format("EXECUTE a({}, '{}')", micro_op.key.integer(), micro_op.value.integer()));
    return;
  }
  const auto rows = execute(fmt::format("EXECUTE r({})", micro_op.key.integer()));
  // No row is the empty list: it is as much a version of the object as any other.
  micro_op.list =
      rows.empty() ? std::vector<Value>{} : parse_list(rows[0][0].c_str(), rows[0][0].size());
}

// Only such text reaches the server as goes without quoting.
bool is_supported(const MicroOp& micro_op) {
  return micro_op.key.is_integer() &&
         (micro_op.function == MicroFunction::read ||
          (micro_op.function == MicroFunction::append && micro_op.value.is_integer()));
}

class ListAppendClient : public Client {
 public:
  explicit ListAppendClient(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  Status setup(std::stop_token stop) override {
    return connection_->execute(kSetup, std::move(stop));
  }

  Outcome invoke(const Payload& payload, std::stop_token stop) override {
    const auto* given = std::get_if<Txn>(&payload);
    if (given == nullptr) return Fail{"list-append takes transactions only"};
    Txn txn = *given;
    for (const auto& micro_op : txn.micro_ops) {
      if (!is_supported(micro_op))
        return Fail{"list-append takes whole numbers, r and append only"};
    }
    auto trouble = connection_->transact(std::move(stop), [&](const auto& execute) {
      for (auto& micro_op : txn.micro_ops) carry_out(micro_op, execute);
      return std::nullopt;
    });
    return trouble ? std::move(*trouble) : Ok{std::move(txn)};
  }

  bool connected() const override { return connection_->connected(); }

 private:
  std::unique_ptr<Connection> connection_;
};

}  // namespace

Result<std::unique_ptr<Client>> connect_list_append(const Endpoint& endpoint,
                                                    const Options& workload_options,
                                                    std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(auto connection, Connection::open(endpoint, workload_options.text("isolation"),
                                                      kPrepare, std::move(stop)));
  return std::make_unique<ListAppendClient>(std::move(connection));
}

}  // namespace ordeal::postgres
