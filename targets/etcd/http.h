// An HTTP connection for requests whose effect matters: it tells whether a request that failed had
// been sent, and never sends one twice. All knowledge about libcurl ends here.
//
// One connection is used by one thread, and stays open between requests; one that was lost while
// nothing was under way is silently replaced.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>

namespace ordeal::etcd {

struct HttpAnswer {
  long status = 0;  // 200, 404, ...
  std::string body;
};

struct HttpFailure {
  enum class Cause { refused, lost, time_out, stop };
  Cause cause = Cause::lost;
  // False: the server has received no part of the request. True: it may have carried it out, or may
  // still.
  bool sent = false;
  std::string message;
};

class HttpConnection {
 public:
  // Does not connect yet. `base` is an URL such as "http://10.0.0.1:2379".
  explicit HttpConnection(std::string base);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // POST of a JSON text. Returns by the deadline, also where the server is frozen or its packets
  // are dropped, and at once when a stop is requested.
  std::variant<HttpAnswer, HttpFailure> post(const std::string& path, const std::string& json,
                                             std::chrono::steady_clock::time_point deadline,
                                             std::stop_token stop);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ordeal::etcd
