// toxiproxy's API: shapes and status codes, mistakes, and HTTP that is none.
#include "nemesis/proxy/http_api.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "nemesis/proxy/http_routes.h"
#include "tests/nemesis/proxy/sockets.h"

namespace ordeal::proxy {
namespace {

using nlohmann::json;

struct Api {
  std::unique_ptr<Proxy> proxy = std::move(Proxy::start().value());

  // Checks the status, and gives the body.
  json ask(unsigned status, const char* method, const char* target, const std::string& body = "") {
    const ApiReply reply = answer(*proxy, method, target, body);
    INFO(method << " " << target << " " << body << " -> " << reply.body);
    CHECK(reply.status == status);
    const json parsed = reply.body.empty() ? json() : json::parse(reply.body);
    if (status >= 400) CHECK(parsed["status"] == status);
    return parsed;
  }
  std::string error(unsigned status, const char* method, const char* target,
                    const std::string& body = "") {
    return ask(status, method, target, body)["error"];
  }
  void create(const char* name = "db") {
    ask(201, "POST", "/proxies",
        json{{"name", name}, {"listen", "127.0.0.1:0"}, {"upstream", "127.0.0.1:1"}}.dump());
  }
};

std::string talk(const HttpApi& api, const std::string& request) {
  TcpSocket socket = TcpSocket::connect(port_of(api.address()));
  socket.send(request);
  socket.finish();
  return socket.receive_all().bytes;
}

}  // namespace

TEST_CASE_METHOD(Api, "proxies are created, shown, changed and deleted") {
  CHECK(ask(200, "GET", "/proxies") == json::object());
  const json created =
      ask(201, "POST", "/proxies",
          R"({"name": "db 1", "listen": "127.0.0.1:0", "upstream": "127.0.0.1:1"})");
  CHECK(created["name"] == "db 1");
  CHECK(created["enabled"] == true);
  CHECK(created["upstream"] == "127.0.0.1:1");
  CHECK(created["toxics"] == json::array());
  const std::uint16_t port = port_of(created["listen"]);
  CHECK_FALSE(connection_refused(port));
  CHECK(ask(200, "GET", "/proxies/db%201") == created);
  CHECK(ask(200, "GET", "/proxies")["db 1"] == created);
  for (const char* method : {"POST", "PATCH"}) {
    CHECK(ask(200, method, "/proxies/db%201", R"({"enabled": false})")["enabled"] == false);
    CHECK(connection_refused(port));
    CHECK(ask(200, method, "/proxies/db%201", R"({"enabled": true})") == created);
    CHECK_FALSE(connection_refused(port));
  }
  const json reset = ask(200, "PATCH", "/proxies/db%201", R"({"enabled": false, "mode": "reset"})");
  CHECK(reset["enabled"] == false);
  CHECK(reset["mode"] == "reset");
  CHECK(ask(200, "PATCH", "/proxies/db%201", R"({"upstream": "x:2"})")["upstream"] == "x:2");
  CHECK(ask(204, "DELETE", "/proxies/db%201").is_null());
  CHECK(ask(200, "GET", "/proxies") == json::object());
}

TEST_CASE_METHOD(Api, "toxics are created, shown, changed and deleted") {
  create();
  const json created = ask(200, "POST", "/proxies/db/toxics",
                           R"({"type": "latency", "attributes": {"latency": 100}})");
  CHECK(created == json::parse(R"({"name": "latency_downstream", "type": "latency",
      "stream": "downstream", "toxicity": 1, "attributes": {"latency": 100, "jitter": 0}})"));
  CHECK(ask(200, "GET", "/proxies/db/toxics") == json::array({created}));
  CHECK(ask(200, "GET", "/proxies/db")["toxics"] == json::array({created}));
  for (const char* method : {"POST", "PATCH"}) {
    const json changed = ask(200, method, "/proxies/db/toxics/latency_downstream",
                             R"({"toxicity": 0.5, "attributes": {"jitter": 7}})");
    CHECK(changed["toxicity"] == 0.5);
    CHECK(changed["attributes"] == json::parse(R"({"latency": 100, "jitter": 7})"));
  }
  CHECK(ask(200, "GET", "/proxies/db/toxics/latency_downstream")["toxicity"] == 0.5);
  CHECK(ask(204, "DELETE", "/proxies/db/toxics/latency_downstream").is_null());
  CHECK(ask(200, "GET", "/proxies/db/toxics") == json::array());
  const json named = ask(200, "POST", "/proxies/db/toxics",
                         R"({"name": "n", "type": "half_open", "stream": "upstream"})");
  CHECK(named["name"] == "n");
  CHECK(named["stream"] == "upstream");
}

TEST_CASE_METHOD(Api, "reset enables all proxies and removes all toxics") {
  create("a");
  create("b");
  ask(200, "POST", "/proxies/a/toxics", R"({"type": "timeout"})");
  ask(200, "PATCH", "/proxies/b", R"({"enabled": false})");
  ask(204, "POST", "/reset");
  CHECK(ask(200, "GET", "/proxies/a")["toxics"] == json::array());
  CHECK(ask(200, "GET", "/proxies/b")["enabled"] == true);
}

TEST_CASE_METHOD(Api, "populate adds, keeps and replaces") {
  const std::string one =
      R"([{"name": "a", "listen": "127.0.0.1:0", "upstream": "h:1", "enabled": false},
          {"name": "b", "listen": "127.0.0.1:0", "upstream": "h:1"}])";
  json body = ask(201, "POST", "/populate", one);
  CHECK(body["proxies"].size() == 2);
  CHECK(body["proxies"][0]["enabled"] == false);
  ask(200, "POST", "/proxies/b/toxics", R"({"type": "timeout"})");
  const json same = json::array({ask(200, "GET", "/proxies/b")});
  CHECK(ask(201, "POST", "/populate", same.dump())["proxies"] == same);
  json other = same;
  other[0]["upstream"] = "h:2";
  CHECK(ask(201, "POST", "/populate", other.dump())["proxies"][0]["toxics"] == json::array());
  CHECK(error(400, "POST", "/populate", R"([{"name": "c", "upstream": "h:1"}, {"name": "d"}])") ==
        "missing required field: upstream at proxy 2");
  CHECK(error(400, "POST", "/populate",
              R"([{"name": "c", "upstream": "h:1"}, {"name": "c", "upstream": "h:1"}])") ==
        "duplicate proxy name \"c\"");
  CHECK(ask(200, "GET", "/proxies").size() == 2);
  const std::string taken = ask(200, "GET", "/proxies/b")["listen"];
  body = ask(500, "POST", "/populate",
             json::parse(R"([{"name": "c", "upstream": "h:1"}, {"name": "d", "upstream": "h:1",
                              "listen": ")" +
                         taken + "\"}]")
                 .dump());
  CHECK(body["proxies"].size() == 1);
  CHECK_THAT(std::string(body["error"]), Catch::Contains("can't listen on " + taken));
}

TEST_CASE_METHOD(Api, "mistakes have the status codes of toxiproxy") {
  create();
  CHECK(error(404, "GET", "/proxies/x") == "proxy not found");
  CHECK(error(404, "POST", "/proxies/x", "{}") == "proxy not found");
  CHECK(error(404, "DELETE", "/proxies/x") == "proxy not found");
  CHECK(error(404, "GET", "/proxies/x/toxics") == "proxy not found");
  CHECK(error(404, "GET", "/proxies/db/toxics/x") == "toxic not found");
  CHECK(error(404, "PATCH", "/proxies/db/toxics/x", "{}") == "toxic not found");
  CHECK(error(404, "DELETE", "/proxies/db/toxics/x") == "toxic not found");
  CHECK(error(409, "POST", "/proxies", R"({"name": "db", "upstream": "h:1"})") ==
        "proxy already exists");
  CHECK(error(400, "POST", "/proxies", R"({"upstream": "h:1"})") == "missing required field: name");
  CHECK(error(400, "POST", "/proxies", R"({"name": "x"})") == "missing required field: upstream");
  CHECK_THAT(error(400, "POST", "/proxies", R"({"name": "x", "upstream": "h"})"),
             Catch::StartsWith("leg x: upstream is \"h\""));
  for (const char* body : {"", "{", "[]", "7", "\xff\xfe", R"({"name": 7, "upstream": "h:1"})",
                           R"({"name": "x", "upstream": "h:1", "enabled": "yes"})"}) {
    CHECK_THAT(error(400, "POST", "/proxies", body), Catch::StartsWith("bad request body: "));
  }
  ask(200, "POST", "/proxies/db/toxics", R"({"type": "latency"})");
  CHECK(error(409, "POST", "/proxies/db/toxics", R"({"type": "latency"})") ==
        "toxic already exists");
  CHECK_THAT(error(400, "POST", "/proxies/db/toxics", R"({"type": "tachyon"})"),
             Catch::StartsWith("invalid toxic type \"tachyon\"; known are latency, "));
  CHECK_THAT(error(400, "POST", "/proxies/db/toxics", R"({"type": "latency", "stream": "up"})"),
             Catch::StartsWith("stream was invalid, can be either upstream or downstream"));
  CHECK_THAT(error(400, "POST", "/proxies/db/toxics",
                   R"({"type": "timeout", "attributes": {"timeot": 1}})"),
             Catch::Contains("it has no attribute timeot; known are timeout"));
  CHECK_THAT(error(400, "POST", "/proxies/db/toxics",
                   R"({"type": "timeout", "attributes": {"timeout": "1s"}})"),
             Catch::Contains("attribute timeout"));
  CHECK_THAT(error(400, "PATCH", "/proxies/db", R"({"mode": "off"})"),
             Catch::Contains("expected enabled, refuse or reset"));
  error(404, "GET", "/");
  error(404, "GET", "");
  error(404, "GET", "/proxies/db/toxics/a/b");
  error(404, "GET", "/proxies/%");
  error(404, "GET", "/proxies/%zz%ff");
  error(405, "DELETE", "/proxies");
  error(405, "GET", "/reset");
}

TEST_CASE("the API is served over HTTP, several requests a connection") {
  const auto proxy = std::move(Proxy::start().value());
  const auto api = std::move(HttpApi::start(*proxy, "127.0.0.1:0").value());
  const std::string request = "GET /version HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string replies = talk(*api, request + request);
  const std::string body = "{\"version\":\"2.5.0\"}\n";
  const auto first = replies.find(body);
  REQUIRE(first != std::string::npos);
  CHECK(replies.find(body, first + 1) != std::string::npos);
  CHECK_THAT(replies, Catch::StartsWith("HTTP/1.1 200 OK\r\n"));
  CHECK_THAT(replies, Catch::Contains("Content-Type: application/json\r\n"));
  const std::string browser = "GET /version HTTP/1.1\r\nUser-Agent: Mozilla/5.0\r\n\r\n";
  CHECK_THAT(talk(*api, browser), Catch::StartsWith("HTTP/1.1 403 "));
  const auto second = HttpApi::start(*proxy, api->address());
  REQUIRE_FALSE(second);
  CHECK_THAT(second.error().message,
             Catch::StartsWith("HTTP API: can't listen on " + api->address()));
}

TEST_CASE("malformed HTTP is answered or dropped, and the API goes on") {
  const auto proxy = std::move(Proxy::start().value());
  const auto api = std::move(HttpApi::start(*proxy, "127.0.0.1:0").value());
  const std::string post = "POST /proxies HTTP/1.1\r\nContent-Length: ";
  for (const std::string& request :
       {std::string("nonsense\r\n\r\n"), std::string("GET /version HTTP/9.9\r\n\r\n"),
        std::string("GET\0/version HTTP/1.1\r\n\r\n", 26), post + "-1\r\n\r\n", post + "x\r\n\r\n",
        std::string("GET / HTTP/1.1\r\nbad header\r\n\r\n"),
        "GET / HTTP/1.1\r\nA: " + std::string(100'000, 'a') + "\r\n\r\n"}) {
    CHECK_THAT(talk(*api, request), Catch::StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  }
  CHECK_THAT(talk(*api, post + "2000000\r\n\r\n"), Catch::StartsWith("HTTP/1.1 413 "));
  CHECK(talk(*api, post + "10\r\n\r\nshort").empty());
  CHECK(talk(*api, "GET /vers").empty());
  CHECK(talk(*api, "").empty());
  const std::string good = "GET /version HTTP/1.0\r\n\r\n";
  CHECK_THAT(talk(*api, good), Catch::StartsWith("HTTP/1.0 200 OK\r\n"));
}

}  // namespace ordeal::proxy
