#include "nemesis/proxy/proxy.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <mutex>

#include "base/random.h"
#include "nemesis/proxy/leg.h"
#include "nemesis/proxy/listen.h"
#include "nemesis/proxy/workers.h"

namespace ordeal::proxy {

std::string_view mode_name(LegMode mode) {
  if (mode == LegMode::enabled) return "enabled";
  return mode == LegMode::refuse ? "refuse" : "reset";
}

Result<LegMode> parse_mode(std::string_view text) {
  for (const LegMode mode : {LegMode::enabled, LegMode::refuse, LegMode::reset}) {
    if (mode_name(mode) == text) return mode;
  }
  return bad_input("mode is \"{}\"; expected enabled, refuse or reset", text);
}

class Proxy::Impl {
 public:
  Impl(std::unique_ptr<Workers> workers, std::uint64_t seed)
      : random_(seed), workers_(std::move(workers)) {}

  // Runs `function` on the leg, one such call at a time.
  template <class Function>
  auto with_leg(std::string_view name, Function function) const
      -> decltype(function(std::declval<Leg&>())) {
    const std::lock_guard lock(mutex_);
    const auto found = legs_.find(name);
    if (found == legs_.end()) return bad_input("there is no leg {}", name);
    return function(*found->second);
  }

  Result<LegInfo> add(LegSpec spec) {
    const std::lock_guard lock(mutex_);
    if (spec.name.empty()) return bad_input("a leg needs a name");
    if (legs_.contains(spec.name)) return bad_input("there already is a leg {}", spec.name);
    const std::string name = spec.name;
    ORDEAL_TRY_ASSIGN(auto leg, Leg::open(*workers_, std::move(spec), random_.derive(name)));
    return (legs_[name] = std::move(leg))->info();
  }

  Status remove(std::string_view name) {
    const std::lock_guard lock(mutex_);
    const auto found = legs_.find(name);
    if (found == legs_.end()) return bad_input("there is no leg {}", name);
    legs_.erase(found);
    return {};
  }

  // Through the leg, as its clients do.
  Status connect(std::string_view name, tcp::socket& socket) const {
    ORDEAL_TRY_ASSIGN(const std::string listen, with_leg(name, [](Leg& leg) -> Result<std::string> {
                        return leg.info().spec.listen;
                      }));
    ORDEAL_TRY_ASSIGN(const tcp::endpoint listener, resolve_listen(name, listen));
    ErrorCode error;
    socket.connect(listener, error);
    if (!error) return {};
    return surroundings_error("leg {}: {}: {}", name, listen, error.message());
  }

  std::vector<LegInfo> infos() const {
    const std::lock_guard lock(mutex_);
    std::vector<LegInfo> infos;
    for (const auto& [name, leg] : legs_) infos.push_back(leg->info());
    return infos;
  }

  Status reset() {
    const std::lock_guard lock(mutex_);
    Status status;
    for (const auto& [name, leg] : legs_) {
      leg->remove_all_toxics();
      if (Status enabled = leg->set_mode(LegMode::enabled); !enabled) status = std::move(enabled);
    }
    return status;
  }

 private:
  const Random random_;
  std::unique_ptr<Workers> workers_;
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Leg>, std::less<>> legs_;  // gone before the workers
};

Result<std::unique_ptr<Proxy>> Proxy::start(ProxyOptions options) {
  ORDEAL_TRY_ASSIGN(auto workers, Workers::start(options.threads));
  return std::unique_ptr<Proxy>(
      new Proxy(std::make_unique<Impl>(std::move(workers), options.seed)));
}

Proxy::Proxy(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Proxy::~Proxy() = default;

Result<LegInfo> Proxy::add_leg(LegSpec spec) { return impl_->add(std::move(spec)); }

Result<LegInfo> Proxy::update_leg(std::string_view name, const LegChange& change) {
  return impl_->with_leg(name, [&](Leg& leg) -> Result<LegInfo> {
    ORDEAL_TRY(leg.change(change));
    return leg.info();
  });
}

Status Proxy::set_mode(std::string_view name, LegMode mode) {
  return impl_->with_leg(name, [&](Leg& leg) { return leg.set_mode(mode); });
}

Status Proxy::remove_leg(std::string_view name) { return impl_->remove(name); }

Result<LegInfo> Proxy::leg(std::string_view name) const {
  return impl_->with_leg(name, [](const Leg& leg) -> Result<LegInfo> { return leg.info(); });
}

std::vector<LegInfo> Proxy::legs() const { return impl_->infos(); }

Status Proxy::touch(std::string_view name) const {
  asio::io_context loop;
  tcp::socket socket(loop);
  return impl_->connect(name, socket);
}

Result<std::chrono::milliseconds> Proxy::round_trip(std::string_view name,
                                                    std::chrono::milliseconds within) const {
  asio::io_context loop;
  tcp::socket socket(loop);
  ORDEAL_TRY(impl_->connect(name, socket));
  const auto begin = std::chrono::steady_clock::now();
  ErrorCode error;
  socket.shutdown(tcp::socket::shutdown_send, error);
  std::array<char, 4096> bytes;  // of a greeting
  std::function<void()> read = [&] {
    socket.async_read_some(asio::buffer(bytes), [&](ErrorCode ended, std::size_t) {
      error = ended;
      if (!ended) read();
    });
  };
  if (!error) read();
  loop.run_for(within);
  if (error == asio::error::eof) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                 begin);
  }
  return surroundings_error("leg {}: a connection through it was not ended by its upstream: {}",
                            name, error ? error.message() : fmt::format("{} ms", within.count()));
}

Result<Toxic> Proxy::add_toxic(std::string_view name, Toxic toxic) {
  return impl_->with_leg(name, [&](Leg& leg) { return leg.add_toxic(std::move(toxic)); });
}

Result<Toxic> Proxy::update_toxic(std::string_view name, std::string_view toxic,
                                  const Attributes& attributes, std::optional<double> toxicity) {
  return impl_->with_leg(name,
                         [&](Leg& leg) { return leg.update_toxic(toxic, attributes, toxicity); });
}

Status Proxy::remove_toxic(std::string_view name, std::string_view toxic) {
  return impl_->with_leg(name, [&](Leg& leg) { return leg.remove_toxic(toxic); });
}

Status Proxy::reset() { return impl_->reset(); }

}  // namespace ordeal::proxy
