// toxiproxy's HTTP API, so that its clients drive a Proxy: http_routes.h over real sockets.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "nemesis/proxy/proxy.h"

namespace ordeal::proxy {

// Serves on a thread of its own, one request at a time, until it is destroyed. There is no
// authentication: whoever can connect can break connections, so listen on loopback.
class HttpApi {
 public:
  // Port 0: any free one. `proxy` must outlive the API.
  static Result<std::unique_ptr<HttpApi>> start(Proxy& proxy,
                                                const std::string& listen = "127.0.0.1:8474");
  ~HttpApi();
  HttpApi(const HttpApi&) = delete;
  HttpApi& operator=(const HttpApi&) = delete;

  std::string address() const;  // address:port

 private:
  class Impl;
  explicit HttpApi(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ordeal::proxy
