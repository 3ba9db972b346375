// Requests to etcd's JSON gateway and its answers, as texts. The gateway maps the gRPC messages of
// etcd's API (Documentation/dev-guide/api_reference_v3.md in its source) to JSON: bytes are base64,
// numbers of 64 bits are strings, and what is empty is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ordeal::etcd {

// A key as it was found.
struct Found {
  std::string value;
  std::int64_t mod_revision = 0;  // of its last change; 0: there is no such key
};

struct Compare {
  std::string key;
  std::int64_t mod_revision = 0;
};

struct Put {
  std::string key;
  std::string value;
};

// Of /v3/kv/txn: reads all keys at one revision.
std::string read_request(const std::vector<std::string>& keys, bool serializable);
// Of /v3/kv/txn: puts all if all compared keys are as they were found.
std::string write_request(const std::vector<Compare>& compares, const std::vector<Put>& puts);
// Of /v3/kv/deleterange.
std::string clear_request();

// nullopt: the text is no such answer.
std::optional<std::vector<Found>> read_answer(const std::string& text, std::size_t keys);
std::optional<bool> write_answer(const std::string& text);  // whether it was done
std::optional<std::vector<std::string>> members_answer(const std::string& text);  // names
// What the server says of a request that failed.
std::optional<std::string> error_answer(const std::string& text);

}  // namespace ordeal::etcd
