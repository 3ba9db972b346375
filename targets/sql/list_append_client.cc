#include "targets/sql/list_append_client.h"

#include <fmt/format.h>

#include <charconv>
#include <stdexcept>
#include <utility>

namespace ordeal::sql {
namespace {

// "1,2,3". Anything else in the column was not written by this client: throws.
std::vector<Value> parse_list(const std::string& text) {
  std::vector<Value> list;
  for (const char *at = text.data(), *end = at + text.size(); at != end;) {
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

// Only such text reaches the server as goes without quoting.
bool is_supported(const MicroOp& micro_op) {
  return micro_op.key.is_integer() &&
         (micro_op.function == MicroFunction::read ||
          (micro_op.function == MicroFunction::append && micro_op.value.is_integer()));
}

class ListAppendClient : public Client {
 public:
  ListAppendClient(std::unique_ptr<Connection> connection, const ListAppendStatements& statements)
      : connection_(std::move(connection)), statements_(statements) {}

  Status setup(std::stop_token stop) override {
    return connection_->execute(std::string(statements_.setup), std::move(stop));
  }

  Outcome invoke(const Payload& payload, std::stop_token stop) override {
    const auto* given = std::get_if<Txn>(&payload);
    if (given == nullptr) return Fail{"list-append takes transactions only"};
    Txn txn = *given;
    for (const auto& micro_op : txn.micro_ops) {
      if (!is_supported(micro_op))
        return Fail{"list-append takes whole numbers, r and append only"};
    }
    auto trouble = connection_->transact(std::move(stop), [&](const Execute& execute) -> Note {
      for (auto& micro_op : txn.micro_ops) carry_out(micro_op, execute);
      return std::nullopt;
    });
    return trouble ? std::move(*trouble) : Ok{std::move(txn)};
  }

  bool connected() const override { return connection_->connected(); }

 private:
  void carry_out(MicroOp& micro_op, const Execute& execute) const {
    const std::int64_t key = micro_op.key.integer();
    if (micro_op.function == MicroFunction::append) {
      execute(fmt::format(fmt::runtime(statements_.append), key, micro_op.value.integer()));
      return;
    }
    const Rows rows = execute(fmt::format(fmt::runtime(statements_.read), key));
    // No row is the empty list: it is as much a version of the object as any other.
    micro_op.list = rows.empty() ? std::vector<Value>{} : parse_list(rows[0][0]);
  }

  std::unique_ptr<Connection> connection_;
  ListAppendStatements statements_;
};

}  // namespace

std::unique_ptr<Client> list_append_client(std::unique_ptr<Connection> connection,
                                           const ListAppendStatements& statements) {
  return std::make_unique<ListAppendClient>(std::move(connection), statements);
}

}  // namespace ordeal::sql
