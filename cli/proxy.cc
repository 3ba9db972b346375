// ordeal proxy: the TCP fault proxy by itself, driven by any client of toxiproxy.
#include "nemesis/proxy/proxy.h"

#include <condition_variable>
#include <memory>
#include <mutex>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/outcome.h"
#include "nemesis/proxy/http_api.h"

namespace ordeal {
namespace {

struct ProxyArguments {
  std::string listen = "127.0.0.1:8474";
  std::vector<std::string> legs;
  std::uint64_t seed = 1;
};

// name=listen,upstream
Result<proxy::LegSpec> parse_leg(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t comma = text.find(',', equals == std::string::npos ? text.size() : equals);
  if (equals == 0 || comma == std::string::npos) {
    return bad_input("--leg is \"{}\"; expected name=listen,upstream, e.g. db=127.0.0.1:0,db1:5432",
                     text);
  }
  return proxy::LegSpec{text.substr(0, equals), text.substr(equals + 1, comma - equals - 1),
                        text.substr(comma + 1)};
}

Status add_legs(proxy::Proxy& proxy, const std::vector<std::string>& legs) {
  for (const std::string& text : legs) {
    ORDEAL_TRY_ASSIGN(auto spec, parse_leg(text));
    ORDEAL_TRY_ASSIGN(const auto leg, proxy.add_leg(std::move(spec)));
    print_result(
        fmt::format("leg {}: {} -> {}\n", leg.spec.name, leg.spec.listen, leg.spec.upstream));
  }
  return {};
}

void wait_for(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait(lock, stop, [] { return false; });
}

Status serve(const ProxyArguments& arguments) {
  const Interrupts interrupts("");
  ORDEAL_TRY_ASSIGN(const auto proxy, proxy::Proxy::start({arguments.seed}));
  ORDEAL_TRY(add_legs(*proxy, arguments.legs));
  ORDEAL_TRY_ASSIGN(const auto api, proxy::HttpApi::start(*proxy, arguments.listen));
  print_result(fmt::format("serving toxiproxy's HTTP API on {}\n", api->address()));
  wait_for(interrupts.token());
  return {};
}

int serve_or_complain(const ProxyArguments& arguments) {
  const Status status = serve(arguments);
  return status ? 0 : complain(status.error());
}

}  // namespace

void add_proxy(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ProxyArguments>();
  auto* command = app.add_subcommand("proxy", "A TCP fault proxy with toxiproxy's HTTP API");
  command->footer("Example: ordeal proxy --leg db=127.0.0.1:15432,127.0.0.1:5432");
  command->add_option("--listen", arguments->listen, "Address of the HTTP API; port 0: any")
      ->capture_default_str();
  command->add_option("--leg", arguments->legs, "name=listen,upstream; may be repeated")
      ->delimiter('\n');
  command->add_option("--seed", arguments->seed, "Of what toxics draw")->capture_default_str();
  command->callback(
      [arguments, &action] { action = [arguments] { return serve_or_complain(*arguments); }; });
}

}  // namespace ordeal
