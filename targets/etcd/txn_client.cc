#include "targets/etcd/txn_client.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

namespace ordeal::etcd {
namespace {

// How a workload's objects are kept. A value of "" stands for a key that is not there.
struct Kind {
  std::string_view prefix;
  MicroFunction write;
  bool write_needs_old;
  // Reads into the micro-operation, or changes the value; false: the value is not of this client.
  bool (*carry_out)(MicroOp& micro_op, std::string& value);
};

bool to_number(std::string_view text, std::int64_t& number) {
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size();
}

bool on_register(MicroOp& micro_op, std::string& value) {
  if (micro_op.function == MicroFunction::write) {
    value = micro_op.value.text();
    return true;
  }
  std::int64_t number = 0;
  if (!value.empty() && !to_number(value, number)) return false;
  micro_op.value = value.empty() ? Value() : Value(number);
  return true;
}

bool read_list(std::string_view text, std::vector<Value>& list) {
  if (text.empty()) return true;
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  text.remove_prefix(1);
  while (!text.empty()) {
    const auto end = text.find_first_of(",]");
    std::int64_t number = 0;
    if (!to_number(text.substr(0, end), number)) return false;
    list.emplace_back(number);
    text.remove_prefix(end + 1);
  }
  return true;
}

bool on_list(MicroOp& micro_op, std::string& value) {
  if (micro_op.function == MicroFunction::read) {
    // No key is the empty list: it is as much a version of the object as any other.
    return read_list(value, micro_op.list.emplace());
  }
  if (value.empty()) {
    value = fmt::format("[{}]", micro_op.value.text());
  } else {
    value.insert(value.size() - 1, fmt::format(",{}", micro_op.value.text()));
  }
  return true;
}

constexpr Kind kRegisters{"registers/", MicroFunction::write, false, on_register};
constexpr Kind kLists{"lists/", MicroFunction::append, true, on_list};

// A transaction under way: what it must know of each of its keys, and what it makes of it.
struct Object {
  bool is_read = false;  // what it was is needed
  bool is_written = false;
  Found found{};  // if read
  std::string value{};
};
using Objects = std::map<std::string, Object>;

class TxnClient : public Client {
 public:
  TxnClient(std::unique_ptr<Connection> connection, const Kind& kind, bool serializable_reads)
      : connection_(std::move(connection)), kind_(kind), serializable_reads_(serializable_reads) {}

  Status setup(std::stop_token stop) override { return connection_->clear(std::move(stop)); }
  Outcome invoke(const Payload& payload, std::stop_token stop) override;
  bool connected() const override { return connection_->connected(); }

 private:
  bool is_supported(const MicroOp& micro_op) const {
    if (!micro_op.key.is_integer()) return false;
    return micro_op.function == MicroFunction::read ||
           (micro_op.function == kind_.write && micro_op.value.is_integer());
  }
  std::string key_of(const MicroOp& micro_op) const {
    return std::string(kind_.prefix) + micro_op.key.text();
  }
  Objects objects_of(const Txn& txn) const;
  std::optional<Outcome> read(Objects& objects, const Limits& limits);
  std::optional<Outcome> write(const Objects& objects, const Limits& limits);

  std::unique_ptr<Connection> connection_;
  const Kind& kind_;
  bool serializable_reads_;
};

Objects TxnClient::objects_of(const Txn& txn) const {
  Objects objects;
  for (const MicroOp& micro_op : txn.micro_ops) {
    const bool reads = micro_op.function == MicroFunction::read;
    Object& object = objects[key_of(micro_op)];
    // What it wrote before, it knows.
    if (!object.is_written && (reads || kind_.write_needs_old)) object.is_read = true;
    if (!reads) object.is_written = true;
  }
  return objects;
}

std::optional<Outcome> TxnClient::read(Objects& objects, const Limits& limits) {
  std::vector<std::string> keys;
  for (const auto& [key, object] : objects) {
    if (object.is_read) keys.push_back(key);
  }
  if (keys.empty()) return std::nullopt;
  auto found = connection_->read(keys, serializable_reads_, limits);
  if (!found) return outcome_of(found.error(), Effect::none);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Object& object = objects[keys[i]];
    object.found = std::move((*found)[i]);
    object.value = object.found.value;
  }
  return std::nullopt;
}

std::optional<Outcome> TxnClient::write(const Objects& objects, const Limits& limits) {
  std::vector<Compare> compares;
  std::vector<Put> puts;
  for (const auto& [key, object] : objects) {
    if (object.is_read) compares.push_back({key, object.found.mod_revision});
    if (object.is_written) puts.push_back({key, object.value});
  }
  if (puts.empty()) return std::nullopt;
  const auto done = connection_->write(compares, puts, limits);
  if (!done) return outcome_of(done.error(), Effect::write);
  if (*done) return std::nullopt;
  return Fail{"conflict: what was read has changed since"};
}

Outcome TxnClient::invoke(const Payload& payload, std::stop_token stop) {
  const auto* given = std::get_if<Txn>(&payload);
  if (given == nullptr || !std::all_of(given->micro_ops.begin(), given->micro_ops.end(),
                                       [&](const MicroOp& op) { return is_supported(op); })) {
    return Fail{fmt::format("etcd takes transactions of whole numbers with r and {} only",
                            micro_function_name(kind_.write))};
  }
  Txn txn = *given;
  Objects objects = objects_of(txn);
  const Limits limits = connection_->limits(std::move(stop));
  if (auto trouble = read(objects, limits)) return std::move(*trouble);
  for (MicroOp& micro_op : txn.micro_ops) {
    const std::string key = key_of(micro_op);
    std::string& value = objects[key].value;
    if (!kind_.carry_out(micro_op, value)) {
      return Fail{fmt::format("unexpected-answer: the value of {} is \"{}\"", key, value)};
    }
  }
  if (auto trouble = write(objects, limits)) return std::move(*trouble);
  return Ok{std::move(txn)};
}

}  // namespace

Result<std::unique_ptr<Client>> connect_txn_client(const Endpoint& endpoint,
                                                   std::string_view workload,
                                                   bool serializable_reads, std::stop_token stop) {
  const Kind& kind = workload == "register" ? kRegisters : kLists;
  ORDEAL_TRY_ASSIGN(auto connection, Connection::open(endpoint, std::move(stop)));
  return std::make_unique<TxnClient>(std::move(connection), kind, serializable_reads);
}

}  // namespace ordeal::etcd
