#include "remote/host_facts.h"

#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <map>
#include <sstream>

namespace ordeal {
namespace {

using std::chrono::duration;
using std::chrono::system_clock;

constexpr int kExchanges = 5;

// "name=value" lines. Its argument is the directory of servers' data, which may not be there yet.
constexpr const char* kLook = R"sh(
PATH=$PATH:/usr/sbin:/sbin
[ -r /etc/os-release ] && . /etc/os-release
echo "system=${PRETTY_NAME:-unknown}"
echo "kernel=$(uname -s -r -m)"
echo "login=$(id -un)"
if [ "$(id -u)" = 0 ]; then echo root=root
elif ! command -v sudo > /dev/null; then echo "root=no sudo"
elif sudo -n true 2> /dev/null; then echo root=sudo
else echo "root=sudo asks for a password"; fi
case $(iptables --version 2> /dev/null) in
  *nf_tables*) echo iptables=nft ;;
  ?*) echo iptables=legacy ;;
  *) echo iptables=none ;;
esac
place=$1
while [ ! -d "$place" ] && [ "$place" != / ]; do place=$(dirname -- "$place"); done
echo "free=$(df -P -B 1 -- "$place" | awk 'NR == 2 { print $4 }')"
)sh";

std::map<std::string, std::string> pairs_of(const std::string& text) {
  std::map<std::string, std::string> pairs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto equals = line.find('=');
    if (equals != std::string::npos) pairs[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return pairs;
}

double now() { return duration<double>(system_clock::now().time_since_epoch()).count(); }

Result<ClockOffset> offset_of(Host& host, const std::stop_token& stop) {
  const double sent = now();
  ORDEAL_TRY_ASSIGN(const auto output,
                    run_checked(host, {{"date", "+%s.%N"}, {}, {}, {}}, kCommandTimeout, stop));
  const double received = now();
  double theirs = 0;
  const std::string& text = output.standard_output;
  if (!boost::conversion::try_lexical_convert(text.substr(0, text.find('\n')), theirs)) {
    return surroundings_error("host {}: `date +%s.%N` printed \"{}\"", host.name(), text);
  }
  return ClockOffset{theirs - (sent + received) / 2, (received - sent) / 2};
}

}  // namespace

Result<HostFacts> gather_facts(Host& host, std::stop_token stop) {
  const Command look{{"sh", "-c", kLook, "sh", host.spec().directory.string()}, {}, {}, {}};
  ORDEAL_TRY_ASSIGN(const auto output, run_checked(host, look, kCommandTimeout, stop));
  auto found = pairs_of(output.standard_output);
  HostFacts facts{.system = found["system"],
                  .kernel = found["kernel"],
                  .login = found["login"],
                  .root = found["root"],
                  .iptables = found["iptables"],
                  .clock = {}};
  boost::conversion::try_lexical_convert(found["free"], facts.free_bytes);
  for (int i = 0; i < kExchanges; ++i) {
    ORDEAL_TRY_ASSIGN(const ClockOffset offset, offset_of(host, stop));
    if (i == 0 || offset.uncertainty < facts.clock.uncertainty) facts.clock = offset;
  }
  return facts;
}

}  // namespace ordeal
