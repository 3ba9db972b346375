#include "targets/etcd/messages.h"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace ordeal::etcd {
namespace {

using Json = nlohmann::json;

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string base64(const std::string& text) {
  std::string encoded((text.size() + 2) / 3 * 4 + 1, '\0');  // and a terminating zero
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()), bytes_of(text),
                                   static_cast<int>(text.size()));
  encoded.resize(static_cast<std::size_t>(size));
  return encoded;
}

// Throws where the text is not base64.
std::string from_base64(const std::string& encoded) {
  std::string text(encoded.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(encoded),
                                   static_cast<int>(encoded.size()));
  if (size < 0) throw std::invalid_argument("not base64");
  const auto padding =
      std::count(encoded.end() - std::min<long>(2, std::ssize(encoded)), encoded.end(), '=');
  text.resize(static_cast<std::size_t>(size - padding));
  return text;
}

// What is left out is zero.
std::int64_t number(const Json& object, const char* name) {
  const auto text = object.value(name, std::string("0"));
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{}) throw std::invalid_argument("not a number");
  return value;
}

Found found(const Json& response) {
  const Json& keys = response.at("response_range").value("kvs", Json::array());
  if (keys.empty()) return {};
  return {from_base64(keys.at(0).value("value", "")), number(keys.at(0), "mod_revision")};
}

// Every answer has a header; what parses but is no such object throws as well.
template <class Read>
auto parsed(const std::string& text, Read read) -> std::optional<decltype(read(Json()))> {
  try {
    return read(Json::parse(text));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string read_request(const std::vector<std::string>& keys, bool serializable) {
  Json operations = Json::array();
  for (const std::string& key : keys) {
    operations.push_back(
        {{"request_range", {{"key", base64(key)}, {"serializable", serializable}}}});
  }
  return Json{{"success", std::move(operations)}}.dump();
}

std::string write_request(const std::vector<Compare>& compares, const std::vector<Put>& puts) {
  Json conditions = Json::array();
  for (const Compare& compare : compares) {
    conditions.push_back({{"target", "MOD"},
                          {"result", "EQUAL"},
                          {"key", base64(compare.key)},
                          {"mod_revision", std::to_string(compare.mod_revision)}});
  }
  Json operations = Json::array();
  for (const Put& put : puts) {
    operations.push_back(
        {{"request_put", {{"key", base64(put.key)}, {"value", base64(put.value)}}}});
  }
  return Json{{"compare", std::move(conditions)}, {"success", std::move(operations)}}.dump();
}

std::string clear_request() {
  // A key and an end of one zero byte each stand for all keys.
  const std::string all = base64(std::string(1, '\0'));
  return Json{{"key", all}, {"range_end", all}}.dump();
}

std::optional<std::vector<Found>> read_answer(const std::string& text, std::size_t keys) {
  return parsed(text, [&](const Json& answer) {
    std::vector<Found> all;
    for (const Json& response : answer.at("responses")) all.push_back(found(response));
    if (all.size() != keys) throw std::invalid_argument("not as many responses as keys");
    return all;
  });
}

std::optional<bool> write_answer(const std::string& text) {
  return parsed(text, [](const Json& answer) {
    static_cast<void>(answer.at("header"));
    return answer.value("succeeded", false);
  });
}

std::optional<std::vector<std::string>> members_answer(const std::string& text) {
  return parsed(text, [](const Json& answer) {
    std::vector<std::string> names;
    for (const Json& member : answer.at("members")) names.push_back(member.value("name", ""));
    return names;
  });
}

std::optional<std::string> error_answer(const std::string& text) {
  return parsed(text, [](const Json& answer) { return answer.at("error").get<std::string>(); });
}

}  // namespace ordeal::etcd
