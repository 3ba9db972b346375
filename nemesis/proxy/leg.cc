#include "nemesis/proxy/leg.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "nemesis/proxy/address.h"
#include "nemesis/proxy/connection.h"
#include "nemesis/proxy/listen.h"

namespace ordeal::proxy {
namespace {

// When no descriptors are left, until some may be free again.
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

}  // namespace

Leg::Leg(Workers& workers, LegSpec spec, Random random)
    : workers_(workers), spec_(std::move(spec)), state_(std::make_shared<LegState>(random)) {}

Result<std::unique_ptr<Leg>> Leg::open(Workers& workers, LegSpec spec, Random random) {
  const LegMode mode = spec.mode;
  auto leg = std::unique_ptr<Leg>(new Leg(workers, std::move(spec), random));
  leg->spec_.mode = LegMode::refuse;
  ORDEAL_TRY(leg->set_addresses(leg->spec_.listen, leg->spec_.upstream));
  ORDEAL_TRY(leg->set_mode(mode));
  return leg;
}

Leg::~Leg() {
  state_->set_mode(LegMode::refuse);
  stop_listening();
  close_connections(false);
}

Status Leg::set_addresses(const std::string& listen, const std::string& upstream) {
  ORDEAL_TRY_ASSIGN(const tcp::endpoint endpoint, resolve_listen("leg " + spec_.name, listen));
  ORDEAL_TRY_ASSIGN(Address address, parse_address("leg " + spec_.name + ": upstream", upstream));
  endpoint_ = endpoint;
  spec_.listen = listen;
  spec_.upstream = upstream;
  state_->set_upstream(std::move(address));
  return {};
}

Status Leg::set_mode(LegMode mode) {
  Status listening;
  state_->set_mode(
      mode);  // before the first connection comes in, and before the last one is closed
  if (mode == LegMode::refuse) {
    stop_listening();
  } else if (listening = listen(); !listening) {
    mode = LegMode::refuse;
    state_->set_mode(mode);
  }
  spec_.mode = mode;
  if (mode != LegMode::enabled) close_connections(mode == LegMode::reset);
  return listening;
}

Status Leg::change(const LegChange& change) {
  const std::string listen = change.listen.value_or(spec_.listen);
  const std::string upstream = change.upstream.value_or(spec_.upstream);
  const LegMode mode = change.mode.value_or(spec_.mode);
  if (listen != spec_.listen || upstream != spec_.upstream) {
    ORDEAL_TRY(set_addresses(listen, upstream));
    ORDEAL_TRY(set_mode(LegMode::refuse));
  }
  return mode == spec_.mode ? Status() : set_mode(mode);
}

Status Leg::listen() {
  if (acceptor_) return {};
  return workers_.first().run([this]() -> Status {
    auto acceptor = std::make_shared<Acceptor>(workers_.first().loop);
    ORDEAL_TRY(listen_on(*acceptor, endpoint_, "leg " + spec_.name));
    endpoint_ = acceptor->local_endpoint();  // a port that was given once is kept
    spec_.listen = text_of(endpoint_);
    asio::co_spawn(workers_.first().loop, accept_all(acceptor, workers_, state_), asio::detached);
    acceptor_ = std::move(acceptor);
    return {};
  });
}

void Leg::stop_listening() {
  if (!acceptor_) return;
  workers_.first().run([this] {
    ErrorCode ignored;
    acceptor_->close(ignored);
  });
  acceptor_.reset();
}

asio::awaitable<void> Leg::accept_all(std::shared_ptr<Acceptor> acceptor, Workers& workers,
                                      std::shared_ptr<LegState> state) {
  while (acceptor->is_open()) {
    Worker& worker = workers.next();
    Socket client(worker.loop);
    ErrorCode error;
    co_await acceptor->async_accept(client, asio::redirect_error(asio::use_awaitable, error));
    if (error && acceptor->is_open()) {
      asio::steady_timer pause(workers.first().loop, kAcceptPause);
      co_await pause.async_wait(asio::use_awaitable);
    }
    if (error) continue;
    const auto number = ++state->accepted;
    const auto connection = std::make_shared<Connection>(state, worker, std::move(client), number);
    const LegMode mode = state->enter(connection);
    asio::post(worker.loop, [connection, mode] {
      if (mode == LegMode::enabled) return connection->start();
      connection->close(mode == LegMode::reset);
    });
  }
}

void Leg::close_connections(bool reset) {
  const auto all = state_->connections();
  for (auto& worker : workers_.all()) {
    worker->run([&] {
      for (const auto& connection : all) {
        if (&connection->worker() == worker.get()) connection->close(reset);
      }
    });
  }
}

LegInfo Leg::info() const {
  LegInfo info{spec_, {}, {}, {}};
  for (const LiveToxic& live : *state_->toxics()) {
    info.toxics.push_back(live.toxic);
    info.effects.push_back(live.effect->seen());
  }
  info.counters.accepted = state_->accepted;
  info.counters.open = state_->open();
  const auto traffic = [](const DirectionCounters& counters) {
    return Traffic{counters.received_bytes, counters.delivered_bytes};
  };
  info.counters.upstream = traffic(state_->bytes[0]);
  info.counters.downstream = traffic(state_->bytes[1]);
  return info;
}

void Leg::publish(std::vector<LiveToxic> toxics) {
  state_->set_toxics(std::move(toxics));
  const auto all = state_->connections();
  for (auto& worker : workers_.all()) {
    worker->run([&] {
      for (const auto& connection : all) {
        if (&connection->worker() == worker.get()) connection->reconcile();
      }
    });
  }
}

Result<std::vector<LiveToxic>::const_iterator> Leg::find_toxic(const std::vector<LiveToxic>& toxics,
                                                               std::string_view name) const {
  const auto found = std::find_if(toxics.begin(), toxics.end(),
                                  [&](const LiveToxic& live) { return live.toxic.name == name; });
  if (found == toxics.end()) return bad_input("leg {}: it has no toxic {}", spec_.name, name);
  return found;
}

Result<Toxic> Leg::add_toxic(Toxic given) {
  ORDEAL_TRY_ASSIGN(const Toxic toxic, completed(std::move(given)));
  std::vector<LiveToxic> toxics = *state_->toxics();
  if (find_toxic(toxics, toxic.name)) {
    return bad_input("leg {}: it already has a toxic {}", spec_.name, toxic.name);
  }
  const std::uint64_t id = next_id_++;
  toxics.push_back(LiveToxic{toxic, id, id});
  publish(std::move(toxics));
  return toxic;
}

Result<Toxic> Leg::update_toxic(std::string_view name, const Attributes& attributes,
                                std::optional<double> toxicity) {
  std::vector<LiveToxic> toxics = *state_->toxics();
  ORDEAL_TRY_ASSIGN(const auto found, find_toxic(toxics, name));
  Toxic changed = found->toxic;
  for (const auto& [key, value] : attributes) changed.attributes[key] = value;
  changed.toxicity = toxicity.value_or(changed.toxicity);
  ORDEAL_TRY_ASSIGN(const Toxic toxic, completed(std::move(changed)));
  toxics[static_cast<std::size_t>(found - toxics.cbegin())] =
      LiveToxic{toxic, found->id, next_id_++};
  publish(std::move(toxics));
  return toxic;
}

Status Leg::remove_toxic(std::string_view name) {
  std::vector<LiveToxic> toxics = *state_->toxics();
  ORDEAL_TRY_ASSIGN(const auto found, find_toxic(toxics, name));
  toxics.erase(found);
  publish(std::move(toxics));
  return {};
}

void Leg::remove_all_toxics() { publish({}); }

}  // namespace ordeal::proxy
