// toxiproxy's HTTP API (2.5) without the HTTP: from method, path and body to status and JSON. Not
// understood, unlike there: nothing; understood on top: `mode` of a proxy (enabled, refuse, reset),
// toxics of our own, and names of attributes that don't exist are an error.
#pragma once

#include <string>
#include <string_view>

#include "nemesis/proxy/proxy.h"

namespace ordeal::proxy {

struct ApiReply {
  unsigned status = 200;
  std::string body;  // JSON, or empty
};

// Never throws; whatever is wrong becomes a reply. `target` is the path as sent, percent-encoded.
ApiReply answer(Proxy& proxy, std::string_view method, std::string_view target,
                std::string_view body);

// {"error": message, "status": status}
ApiReply error_reply(unsigned status, std::string_view message);

}  // namespace ordeal::proxy
