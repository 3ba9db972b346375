#include "nemesis/data_damage.h"

#include <fmt/format.h>

#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>

#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

// Drawn numbers are taken modulo what the host has of files, and the file of bits.
constexpr std::int64_t kDrawnMax = 1'000'000'000'000;

// To the script of a fault: kills the server, then chooses one of its files.
// $1 a shell line: kill, $2 a pattern of files, $3 a drawn number, $4 the record: what was done,
// for the probe. The rest is the fault's own.
constexpr std::string_view kChoose = R"sh(
kill=$1 pattern=$2 number=$3 record=$4
shift 4
eval "$kill" || exit 1
files() (
  IFS=
  for file in $pattern; do if [ -f "$file" ] && [ -s "$file" ]; then echo "$file"; fi; done
)
count=$(files | wc -l)
[ "$count" -gt 0 ] || { echo "there is no file with data in it: $pattern" >&2; exit 1; }
file=$(files | sed -n "$((number % count + 1))p")
size=$(stat -c %s "$file") || exit 1
)sh";

// The rest of the arguments are drawn numbers.
constexpr std::string_view kFlip = R"sh(
printf '%s\n' "$file" > "$record" || exit 1
for drawn; do
  bit=$((drawn % (size * 8)))
  at=$((bit / 8))
  old=$(od -An -tu1 -j "$at" -N 1 "$file") || exit 1
  new=$((old ^ (1 << bit % 8)))
  printf "\\$(printf %03o "$new")" |
    dd of="$file" bs=1 seek="$at" conv=notrunc status=none || exit 1
  echo "$at $new" >> "$record"
done
)sh";

// $1 record. What was written last into a byte counts.
constexpr std::string_view kIsFlipped = R"sh(
[ -e "$1" ] || { echo "no bit was flipped"; exit 1; }
IFS= read -r file < "$1"
places=$(awk 'NR > 1 { last[$1] = $2 } END { for (at in last) print at ":" last[at] }' "$1" |
  sort -n)
seen=
for place in $places; do
  at=${place%:*}
  [ "$(($(od -An -tu1 -j "$at" -N 1 "$file")))" = "${place#*:}" ] ||
    { echo "byte $at of $file is not as it was written"; exit 1; }
  seen="$seen $at"
done
echo "bits are flipped in these bytes of $file:$seen"
[ -n "$seen" ]
)sh";

// $1 is the share to keep.
constexpr std::string_view kTruncate = R"sh(
new=$(awk "BEGIN { printf \"%d\", $size * $1 }")
printf '%s\n' "$file" "$size" "$new" > "$record" && truncate -s "$new" "$file"
)sh";

constexpr std::string_view kIsTruncated = R"sh(
[ -e "$1" ] || { echo "no file was truncated"; exit 1; }
{ IFS= read -r file; read -r old; read -r new; } < "$1"
size=$(stat -c %s "$file") || exit 1
echo "$file has $size of its $old bytes"
[ "$size" = "$new" ] && [ "$size" -lt "$old" ]
)sh";

// $1 record, $2 a shell line: start.
constexpr std::string_view kStart = R"sh(
rm -f "$1" && eval "$2"
)sh";

struct Damage {
  std::string detail;
  std::string_view what;  // kFlip or kTruncate
  std::string_view probe;
  std::vector<std::string> arguments;
};

Result<FaultPlan> plan_damage(const Fault& fault, const Battlefield& battlefield,
                              const Damage& damage) {
  ORDEAL_TRY_ASSIGN(const double number, number_of(fault, "file", 0, kDrawnMax));
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    if (!battlefield.server(*host).data_file.empty()) continue;
    return bad_input("fault {} on host {}: it is not known which of the server's files hold data",
                     fault.name, name);
  }
  const auto record = [&](const ServerControl& control) {
    return (control.directory / ("ordeal-damage-" + battlefield.run_id)).string();
  };
  const std::string text = std::string(kChoose) + std::string(damage.what);
  return plan_per_server(
      fault, battlefield, damage.detail,
      {.inject =
           [&](const ServerControl& control) {
             std::vector<std::string> arguments{shell_line(control.kill), control.data_file,
                                                fmt::format("{:.0f}", number), record(control)};
             arguments.insert(arguments.end(), damage.arguments.begin(), damage.arguments.end());
             return script(text, std::move(arguments));
           },
       .undo =
           [&](const ServerControl& control) {
             return script(kStart, {record(control), shell_line(control.start)});
           },
       .effect =
           [&](const ServerControl& control) { return script(damage.probe, {record(control)}); },
       .healed =
           [](const ServerControl& control) {
             return state_is(control, {"running", "stopped", "mixed"});
           }});
}

std::string drawn_number(Random& random) { return std::to_string(random.between(0, kDrawnMax)); }

// ---- dangerous-flip-bits

constexpr OptionSpec kFlipOptions[] = {
    kDangerousOption,
    kHostsOption,
    kRoleOption,
    {.name = "bits",
     .type = OptionType::integer,
     .default_value = "4",
     .summary = "how many bits are flipped, in one file of each server",
     .minimum = 1,
     .maximum = 1000},
};

Fault draw_flip(const Options& options, const Terrain& terrain, Random& random) {
  std::vector<std::string> bits;
  for (std::int64_t i = 0; i < options.integer("bits"); ++i) bits.push_back(drawn_number(random));
  std::string file = drawn_number(random);
  return {.name = "dangerous-flip-bits",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"file", std::move(file)}, {"bits", boost::algorithm::join(bits, ",")}}};
}

Result<FaultPlan> plan_flip(const Fault& fault, const Battlefield& battlefield) {
  const std::string& text = fault.parameters.at("bits");
  std::vector<std::string> bits;
  boost::split(bits, text, [](char c) { return c == ','; });
  for (const std::string& bit : bits) {
    if (!bit.empty() && bit.find_first_not_of("0123456789") == std::string::npos) continue;
    return bad_input("fault {}: bits={}: expected numbers with commas between them", fault.name,
                     text);
  }
  return plan_damage(fault, battlefield,
                     {.detail = fmt::format("the database on {} is killed, and {} bits of a file "
                                            "are flipped for good",
                                            fmt::join(fault.hosts, ", "), bits.size()),
                      .what = kFlip,
                      .probe = kIsFlipped,
                      .arguments = bits});
}

// ---- dangerous-truncate

constexpr OptionSpec kTruncateOptions[] = {kDangerousOption, kHostsOption, kRoleOption};

Fault draw_truncate(const Options& options, const Terrain& terrain, Random& random) {
  std::string file = drawn_number(random);
  std::string keep = fmt::format("{:.3f}", 0.95 * random.unit());
  return {.name = "dangerous-truncate",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"file", std::move(file)}, {"keep", std::move(keep)}}};
}

Result<FaultPlan> plan_truncate(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double keep, number_of(fault, "keep", 0, 0.999));
  const std::string text = fmt::format("{:.3f}", keep);
  return plan_damage(fault, battlefield,
                     {.detail = fmt::format("the database on {} is killed, and a file truncated to "
                                            "{} of its size for good",
                                            fmt::join(fault.hosts, ", "), text),
                      .what = kTruncate,
                      .probe = kIsTruncated,
                      .arguments = {text}});
}

}  // namespace

FaultEntry dangerous_flip_bits_fault() {
  return {.name = "dangerous-flip-bits",
          .summary = "kills the database, flips bits in one of its files for good, and starts it",
          .need = FaultNeed::nothing,
          .options = kFlipOptions,
          .draw = draw_flip,
          .plan = plan_flip,
          .dangerous = true,
          .typical = {.to_see = milliseconds(600), .to_heal = milliseconds(500)}};
}

FaultEntry dangerous_truncate_fault() {
  return {.name = "dangerous-truncate",
          .summary = "kills the database, truncates one of its files for good, and starts it",
          .need = FaultNeed::nothing,
          .options = kTruncateOptions,
          .draw = draw_truncate,
          .plan = plan_truncate,
          .dangerous = true,
          .typical = {.to_see = milliseconds(600), .to_heal = milliseconds(500)}};
}

}  // namespace ordeal
