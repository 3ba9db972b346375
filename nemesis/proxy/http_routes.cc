#include "nemesis/proxy/http_routes.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "nemesis/proxy/http_json.h"

namespace ordeal::proxy {
namespace {

using nlohmann::json;

// Of the API that is served; the version of Ordeal itself would mislead clients.
constexpr const char* kApiVersion = "2.5.0";

// A request that has been routed.
struct Request {
  Proxy& proxy;
  std::string_view method;
  std::vector<std::string> path;
  std::string_view body;
};

ApiReply ok(const json& body, unsigned status = 200) { return {status, body.dump() + "\n"}; }

ApiReply failure(const Error& error) {
  return error_reply(error.kind == ErrorKind::bad_input ? 400 : 500, error.message);
}

template <class T>
ApiReply reply(const Result<T>& result, unsigned status = 200) {
  return result ? ok(to_json(*result), status) : failure(result.error());
}

ApiReply reply(const Status& status) {
  return status ? ApiReply{204, ""} : failure(status.error());
}

bool exists(const Proxy& proxy, const std::string& leg) { return proxy.leg(leg).has_value(); }

const Toxic* find_toxic(const LegInfo& leg, const std::string& name) {
  const auto found = std::find_if(leg.toxics.begin(), leg.toxics.end(),
                                  [&](const Toxic& toxic) { return toxic.name == name; });
  return found == leg.toxics.end() ? nullptr : &*found;
}

// What clients send for a leg; `place` names it in messages about a list.
Result<LegSpec> read_leg(const json& object, const std::string& place) {
  LegSpec spec;
  spec.name = read_text(object, "name").value_or("");
  if (spec.name.empty()) return bad_input("missing required field: name{}", place);
  spec.upstream = read_text(object, "upstream").value_or("");
  if (spec.upstream.empty()) return bad_input("missing required field: upstream{}", place);
  const auto listen = read_text(object, "listen");
  if (listen && !listen->empty()) spec.listen = *listen;
  ORDEAL_TRY_ASSIGN(const auto mode, read_mode(object));
  spec.mode = mode.value_or(LegMode::enabled);
  return spec;
}

ApiReply list_legs(const Request& request) {
  json all = json::object();
  for (const LegInfo& leg : request.proxy.legs()) all[leg.spec.name] = to_json(leg);
  return ok(all);
}

ApiReply create_leg(const Request& request) {
  auto spec = read_leg(parse_body(request.body), "");
  if (!spec) return failure(spec.error());
  if (exists(request.proxy, spec->name)) return error_reply(409, "proxy already exists");
  return reply(request.proxy.add_leg(std::move(*spec)), 201);
}

ApiReply update_leg(const Request& request) {
  const json body = parse_body(request.body);
  const auto mode = read_mode(body);
  if (!mode) return failure(mode.error());
  return reply(request.proxy.update_leg(
      request.path[1], {read_text(body, "listen"), read_text(body, "upstream"), *mode}));
}

// A leg that is there already with these addresses stays as it is, its toxics included.
Result<LegInfo> add_or_replace(Proxy& proxy, const LegSpec& spec) {
  const auto old = proxy.leg(spec.name);
  if (!old) return proxy.add_leg(spec);
  if (old->spec.listen == spec.listen && old->spec.upstream == spec.upstream) {
    return proxy.update_leg(spec.name, {{}, {}, spec.mode});
  }
  ORDEAL_TRY(proxy.remove_leg(spec.name));
  return proxy.add_leg(spec);
}

Result<std::vector<LegSpec>> read_legs(const json& list) {
  std::vector<LegSpec> specs;
  std::set<std::string> names;
  for (const json& object : list) {
    ORDEAL_TRY_ASSIGN(LegSpec spec,
                      read_leg(object, fmt::format(" at proxy {}", specs.size() + 1)));
    if (!names.insert(spec.name).second) {
      return bad_input("duplicate proxy name \"{}\"", spec.name);
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

ApiReply populate(const Request& request) {
  const auto specs = read_legs(parse_body(request.body, true));
  if (!specs) return failure(specs.error());
  json added = json::array();
  for (const LegSpec& spec : *specs) {
    const auto leg = add_or_replace(request.proxy, spec);
    if (!leg) {
      const ApiReply error = failure(leg.error());
      json body = json::parse(error.body);
      body["proxies"] = added;
      return ok(body, error.status);
    }
    added.push_back(to_json(*leg));
  }
  return ok({{"proxies", added}}, 201);
}

ApiReply list_toxics(const Request&, const LegInfo& leg) { return ok(to_json(leg)["toxics"]); }

ApiReply create_toxic(const Request& request, const LegInfo& leg) {
  auto toxic = read_toxic(parse_body(request.body));
  if (!toxic) return failure(toxic.error());
  if (find_toxic(leg, toxic->name) != nullptr) return error_reply(409, "toxic already exists");
  return reply(request.proxy.add_toxic(leg.spec.name, std::move(*toxic)));
}

ApiReply one_toxic(const Request& request, const LegInfo& leg) {
  const std::string& name = request.path[3];
  const Toxic* toxic = find_toxic(leg, name);
  if (toxic == nullptr) return error_reply(404, "toxic not found");
  if (request.method == "GET") return ok(to_json(*toxic));
  if (request.method == "DELETE") return reply(request.proxy.remove_toxic(leg.spec.name, name));
  const json body = parse_body(request.body);
  return reply(
      request.proxy.update_toxic(leg.spec.name, name, read_attributes(body), read_toxicity(body)));
}

ApiReply one_leg(const Request& request) {
  const auto leg = request.proxy.leg(request.path[1]);
  if (!leg) return error_reply(404, "proxy not found");
  if (request.path.size() == 4) return one_toxic(request, *leg);
  if (request.path.size() == 3) {
    return request.method == "GET" ? list_toxics(request, *leg) : create_toxic(request, *leg);
  }
  if (request.method == "GET") return ok(to_json(*leg));
  if (request.method == "DELETE") return reply(request.proxy.remove_leg(leg->spec.name));
  return update_leg(request);
}

ApiReply all_legs(const Request& request) {
  return request.method == "GET" ? list_legs(request) : create_leg(request);
}

ApiReply reset(const Request& request) { return reply(request.proxy.reset()); }

ApiReply version(const Request&) { return ok({{"version", kApiVersion}}); }

struct Route {
  std::vector<std::string_view> path;  // "*": any name
  std::string_view methods;
  ApiReply (*handle)(const Request&);
};

const std::vector<Route>& routes() {
  static const std::vector<Route> table = {
      {{"version"}, "GET", version},
      {{"reset"}, "POST", reset},
      {{"populate"}, "POST", populate},
      {{"proxies"}, "GET POST", all_legs},
      {{"proxies", "*"}, "GET POST PATCH DELETE", one_leg},
      {{"proxies", "*", "toxics"}, "GET POST", one_leg},
      {{"proxies", "*", "toxics", "*"}, "GET POST PATCH DELETE", one_leg},
  };
  return table;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* digits = text.data() + i + 1;
    const bool encoded = text[i] == '%' && i + 2 < text.size() &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
    out += encoded ? static_cast<char>(byte) : text[i];
    if (encoded) i += 2;
  }
  return out;
}

std::vector<std::string> split_path(std::string_view target) {
  std::vector<std::string> parts;
  target = target.substr(0, target.find('?'));
  while (!target.empty()) {
    target.remove_prefix(1);  // the slash
    const std::size_t end = std::min(target.find('/'), target.size());
    if (end > 0) parts.push_back(percent_decoded(target.substr(0, end)));
    target.remove_prefix(end);
  }
  return parts;
}

bool matches(const Route& route, const std::vector<std::string>& path) {
  return std::equal(
      route.path.begin(), route.path.end(), path.begin(), path.end(),
      [](auto pattern, const auto& part) { return pattern == "*" || pattern == part; });
}

bool allows(std::string_view methods, std::string_view method) {
  return (" " + std::string(methods) + " ").find(" " + std::string(method) + " ") !=
         std::string::npos;
}

}  // namespace

ApiReply error_reply(unsigned status, std::string_view message) {
  // What clients sent may be part of the message, and need not be UTF-8.
  return {status, json{{"error", message}, {"status", status}}.dump(
                      -1, ' ', false, json::error_handler_t::replace) +
                      "\n"};
}

ApiReply answer(Proxy& proxy, std::string_view method, std::string_view target,
                std::string_view body) try {
  const Request request{proxy, method, split_path(target), body};
  for (const Route& route : routes()) {
    if (!matches(route, request.path)) continue;
    if (allows(route.methods, method)) return route.handle(request);
    return error_reply(405, fmt::format("method not allowed; expected one of {}", route.methods));
  }
  return error_reply(404, "404 page not found");
} catch (const json::exception& error) {
  return error_reply(400, fmt::format("bad request body: {}", error.what()));
}

}  // namespace ordeal::proxy
