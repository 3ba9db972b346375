#include "targets/etcd/http.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

namespace ordeal::etcd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Thread-safe since libcurl 7.84 only together with OpenSSL 1.1; a static's construction always is.
void initialise_once() {
  static const CURLcode done = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(done);
}

std::size_t append_to(char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

// Called before each sending of a request. libcurl would send again what was lost on a connection
// that had been open before, on the guess that the server had closed it; but a write must not
// happen twice.
int allow_once(void* sent, char* /*address*/, char* /*local*/, int /*port*/, int /*local_port*/) {
  return std::exchange(*static_cast<bool*>(sent), true) ? CURL_PREREQFUNC_ABORT
                                                        : CURL_PREREQFUNC_OK;
}

// A connection that cannot be made once the request was sent would have been the second one.
HttpFailure::Cause cause_of(CURLcode code, bool sent) {
  if (code == CURLE_COULDNT_CONNECT && !sent) return HttpFailure::Cause::refused;
  if (code == CURLE_OPERATION_TIMEDOUT) return HttpFailure::Cause::time_out;
  return HttpFailure::Cause::lost;
}

std::string message_of(CURLcode code, bool sent) {
  const bool again = code == CURLE_ABORTED_BY_CALLBACK || code == CURLE_COULDNT_CONNECT;
  if (sent && again) return "the connection was lost";
  return fmt::format("{}{}", curl_easy_strerror(code), sent ? "" : " (nothing was sent)");
}

}  // namespace

struct HttpConnection::Parts {
  std::string base;
  CURLM* multi = nullptr;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;

  explicit Parts(std::string base_url) : base(std::move(base_url)) {
    initialise_once();
    multi = curl_multi_init();
    easy = curl_easy_init();
    headers = curl_slist_append(nullptr, "Content-Type: application/json");
  }
  ~Parts() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
    curl_slist_free_all(headers);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  void prepare(const std::string& url, const std::string& json, milliseconds timeout,
               std::string& body, bool& sent) const;
  std::optional<CURLcode> perform(const std::stop_token& stop) const;
};

void HttpConnection::Parts::prepare(const std::string& url, const std::string& json,
                                    milliseconds timeout, std::string& body, bool& sent) const {
  curl_easy_reset(easy);  // keeps the connection
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROXY, "");  // whatever the environment says
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, json.c_str());
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append_to);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, allow_once);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &sent);
}

// nullopt: stopped.
std::optional<CURLcode> HttpConnection::Parts::perform(const std::stop_token& stop) const {
  const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi); });
  constexpr int kLongestWait_ms = 1000;  // libcurl knows its own deadlines, and waits for less
  int running = 1;
  while (!stop.stop_requested()) {
    curl_multi_perform(multi, &running);
    if (running == 0) break;
    curl_multi_poll(multi, nullptr, 0, kLongestWait_ms, nullptr);
  }
  int left = 0;
  const CURLMsg* message = curl_multi_info_read(multi, &left);
  if (message == nullptr || message->msg != CURLMSG_DONE) return std::nullopt;
  return message->data.result;
}

HttpConnection::HttpConnection(std::string base)
    : parts_(std::make_unique<Parts>(std::move(base))) {}
HttpConnection::~HttpConnection() = default;

std::variant<HttpAnswer, HttpFailure> HttpConnection::post(const std::string& path,
                                                           const std::string& json,
                                                           steady_clock::time_point deadline,
                                                           std::stop_token stop) {
  using Cause = HttpFailure::Cause;
  const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
  if (stop.stop_requested()) return HttpFailure{Cause::stop, false, "the run was stopped"};
  if (left <= milliseconds(0)) return HttpFailure{Cause::time_out, false, "no time was left"};
  HttpAnswer answer;
  bool sent = false;
  parts_->prepare(parts_->base + path, json, left, answer.body, sent);
  curl_multi_add_handle(parts_->multi, parts_->easy);
  const auto code = parts_->perform(stop);
  if (code == CURLE_OK) {
    curl_easy_getinfo(parts_->easy, CURLINFO_RESPONSE_CODE, &answer.status);
  }
  curl_multi_remove_handle(parts_->multi, parts_->easy);  // of an unfinished one, closes
  if (!code) return HttpFailure{Cause::stop, sent, "the run was stopped"};
  if (*code == CURLE_OK) return answer;
  return HttpFailure{cause_of(*code, sent), sent, message_of(*code, sent)};
}

}  // namespace ordeal::etcd
