#include "nemesis/disk.h"

#include <fmt/format.h>

#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

Command is_there(const ServerControl& control) {
  return state_is(control, {"running", "stopped", "mixed"});
}

// ---- disk-full

constexpr std::int64_t kMiBMax = 1'000'000'000;
// A gibibyte takes a busy machine more than the time that commands have. Both together are
// less than the grace of watchdogs.
constexpr milliseconds kFillTime{15'000};

constexpr OptionSpec kFullOptions[] = {
    kHostsOption,
    kRoleOption,
    {.name = "leave",
     .type = OptionType::integer,
     .default_value = "0",
     .summary = "so much is left free, in MiB",
     .maximum = kMiBMax},
    {.name = "max-size",
     .type = OptionType::integer,
     .default_value = "2048",
     .summary = "the file that fills the file system may have this size, in MiB; where it would "
                "have to be larger, the fault is refused",
     .minimum = 1,
     .maximum = kMiBMax},
};

Fault draw_full(const Options& options, const Terrain& terrain, Random& random) {
  return {.name = "disk-full",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"leave", options.text("leave")}, {"max-size", options.text("max-size")}}};
}

// To scripts that are run before there are servers: $1 the server's directory, or what there is of
// the way to it.
constexpr std::string_view kExisting = R"sh(
directory=$1
until [ -d "$directory" ]; do directory=$(dirname "$directory"); done
)sh";

// $1 directory, $2 MiB to leave, $3 MiB at most.
constexpr std::string_view kCanFill = R"sh(
free=$(df -B 1 --output=avail "$directory" | tail -n 1) || exit 1
size=$((free / 1048576 - $2))
[ "$size" -le "$3" ] || {
  echo "to fill the file system of $1 would take $size MiB, more than max-size ($3 MiB): give the" \
       "servers a smaller file system of their own, or raise max-size"
  exit 1
}
)sh";

// $1 directory, $2 file, $3 MiB to leave, $4 MiB at most. What others write or delete meanwhile is
// why this takes several tries; where the last blocks cannot be had at once, dd takes them singly.
constexpr std::string_view kFill = R"sh(
for try in 1 2 3 4 5; do
  free=$(df -B 1 --output=avail "$1" | tail -n 1) || exit 1
  more=$((free - $3 * 1048576))
  [ "$more" -gt 0 ] || exit 0
  size=$(($(stat -c %s "$2" 2>/dev/null || echo 0) + more))
  [ "$size" -le $(($4 * 1048576)) ] || {
    echo "to fill the file system of $1 would take $((size / 1048576)) MiB, more than max-size" \
         "($4 MiB): give the servers a file system of their own, or raise max-size" >&2
    exit 1
  }
  fallocate -l "$size" "$2" 2>/dev/null ||
    dd if=/dev/zero of="$2" bs=4096 count=$((more / 4096)) oflag=append conv=notrunc 2>/dev/null
done
exit 0
)sh";

// $1 file, $2 a shell line: start. A server may have ended for want of space.
constexpr std::string_view kEmpty = R"sh(
rm -f "$1" && eval "$2"
)sh";

// $1 directory, $2 file, $3 MiB to leave, $4 MiB at most. Another MiB is the tolerance. What
// servers deleted meanwhile is filled again, by what cannot create the file: it may just have been
// undone.
constexpr std::string_view kIsFull = R"sh(
free=$(df -B 1 --output=avail "$1" | tail -n 1) || exit 1
more=$((free - $3 * 1048576))
if [ "$more" -ge 4096 ] && size=$(stat -c %s "$2" 2>/dev/null) &&
  [ $((size + more)) -le $(($4 * 1048576)) ]; then
  dd if=/dev/zero of="$2" bs=4096 count=$((more / 4096)) oflag=append \
    conv=notrunc,nocreat 2>/dev/null
  free=$(df -B 1 --output=avail "$1" | tail -n 1) || exit 1
fi
echo "$((free)) bytes are free on the file system of $1"
[ "$free" -le $((($3 + 1) * 1048576)) ]
)sh";

// $1 directory, $2 file.
constexpr std::string_view kIsEmpty = R"sh(
[ ! -e "$2" ] || { echo "$2 still fills the file system"; exit 1; }
echo "$(($(df -B 1 --output=avail "$1" | tail -n 1))) bytes are free on the file system of $1"
)sh";

Command before_servers(std::string_view text, std::vector<std::string> arguments) {
  return script(std::string(kExisting) + std::string(text), std::move(arguments));
}

Result<FaultPlan> plan_full(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double leave_mib, number_of(fault, "leave", 0, kMiBMax));
  ORDEAL_TRY_ASSIGN(const double max_mib, number_of(fault, "max-size", 1, kMiBMax));
  const std::string leave = fmt::format("{:.0f}", leave_mib);
  const std::string size_max = fmt::format("{:.0f}", max_mib);
  const auto file = [&](const ServerControl& control) {
    return (control.directory / ("ordeal-full-" + battlefield.run_id)).string();
  };
  ORDEAL_TRY_ASSIGN(
      FaultPlan plan,
      plan_per_server(
          fault, battlefield,
          fmt::format("the database's file system on {} is filled, but for {} MiB",
                      fmt::join(fault.hosts, ", "), leave),
          {.inject =
               [&](const ServerControl& control) {
                 return script(kFill, {control.directory, file(control), leave, size_max});
               },
           .undo =
               [&](const ServerControl& control) {
                 return script(kEmpty, {file(control), shell_line(control.start)});
               },
           .effect =
               [&](const ServerControl& control) {
                 return script(kIsFull, {control.directory, file(control), leave, size_max});
               },
           .healed =
               [&](const ServerControl& control) {
                 return all_of(
                     {script(kIsEmpty, {control.directory, file(control)}), is_there(control)});
               },
           .possible =
               [&](const ServerControl& control) {
                 return before_servers(kCanFill, {control.directory, leave, size_max});
               }}));
  plan.inject_longer = kFillTime;
  return plan;
}

// ---- disk-readonly

constexpr OptionSpec kReadonlyOptions[] = {kHostsOption, kRoleOption};

Fault draw_readonly(const Options& options, const Terrain& terrain, Random& random) {
  return {.name = "disk-readonly", .hosts = draw_servers(options, terrain, random)};
}

// $1 directory, $2 the directory of all servers of the host.
constexpr std::string_view kIsApart = R"sh(
mount=$(stat -c %m "$directory") || exit 1
[ "$mount" = "$1" ] || [ "$mount" = "$2" ] || {
  echo "$1 is on the file system of $mount, which holds more than the servers' files: mount one" \
       "of its own on $1 or $2"
  exit 1
}
)sh";

// $1 directory, $2 the directory of all servers of the host, $3 a shell line: kill, $4: start. The
// kernel refuses while files are open for writing, as they are until killed processes are gone, and
// the server may refuse to start.
constexpr std::string_view kForbid = R"sh(
mount=$(stat -c %m "$1") || exit 1
[ "$mount" = "$1" ] || [ "$mount" = "$2" ] || {
  echo "$1 is on the file system of $mount, which holds more than the servers' files: mount one" \
       "of its own on $1 or $2" >&2
  exit 1
}
eval "$3" || exit 1
tries=0
until failed=$(mount -o remount,ro "$mount" 2>&1); do
  tries=$((tries + 1))
  [ "$tries" -lt 50 ] || { echo "$failed" >&2; exit 1; }
  sleep 0.1
done
eval "$4" >/dev/null 2>&1
exit 0
)sh";

constexpr std::string_view kPermit = R"sh(
mount=$(stat -c %m "$1") || exit 1
if [ "$mount" = "$1" ] || [ "$mount" = "$2" ]; then mount -o remount,rw "$mount" || exit 1; fi
eval "$3"
)sh";

// $1 directory, $2 "can" or "cannot". The file is new, as servers make them.
constexpr std::string_view kIsWritable = R"sh(
if (: > "$1/ordeal-probe.$$") 2>/dev/null; then seen=can; else seen=cannot; fi
rm -f "$1/ordeal-probe.$$"
echo "files below $1 $seen be written"
[ "$seen" = "$2" ]
)sh";

Command is_writable(const ServerControl& control, const char* wanted) {
  return script(kIsWritable, {control.directory, wanted});
}

Result<FaultPlan> plan_readonly(const Fault& fault, const Battlefield& battlefield) {
  FaultPlan plan{.detail = fmt::format("the database's file system on {} is read-only",
                                       fmt::join(fault.hosts, ", ")),
                 .inject = {},
                 .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const ServerControl control = battlefield.server(*host);
    const std::string all = host->spec().directory;
    const std::string start = shell_line(control.start);
    plan.possible.push_back({name, {before_servers(kIsApart, {control.directory, all})}});
    plan.inject.push_back(
        {name, {script(kForbid, {control.directory, all, shell_line(control.kill), start})}});
    plan.undo.push_back({name, {script(kPermit, {control.directory, all, start})}});
    plan.effect.push_back({name, {is_writable(control, "cannot")}});
    plan.healed.push_back({name, {is_writable(control, "can"), is_there(control)}});
  }
  return plan;
}

}  // namespace

FaultEntry disk_full_fault() {
  return {.name = "disk-full",
          .summary = "fills the file system of the database's files, within bounds",
          .need = FaultNeed::own_disk,
          .options = kFullOptions,
          .draw = draw_full,
          .plan = plan_full,
          .typical = {.to_see = milliseconds(700), .to_heal = milliseconds(800)}};
}

FaultEntry disk_readonly_fault() {
  return {.name = "disk-readonly",
          .summary = "makes the file system of the database's files read-only, if it is their own",
          .need = FaultNeed::own_disk,
          .options = kReadonlyOptions,
          .draw = draw_readonly,
          .plan = plan_readonly,
          .typical = {.to_see = milliseconds(1500), .to_heal = milliseconds(1000)}};
}

}  // namespace ordeal
