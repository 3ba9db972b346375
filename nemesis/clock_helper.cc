// A program of its own, put onto hosts by the faults host-clock-...: moves the host's wall clock,
// and puts it right again by the monotonic clock, which nobody can set (clock_gettime(2)).
//
//   ordeal-clock skew STATE OFFSET_S [--dry-run]   the clock is OFFSET_S ahead of the true time
//   ordeal-clock restore STATE [--dry-run]         the true time again; nothing where no STATE is
//   ordeal-clock offset STATE                      prints by how many seconds it is ahead
//   ordeal-clock strobe STATE OFFSET_S PERIOD_MS LIMIT_S MARK [--dry-run]
//   ordeal-clock drift STATE RATE LIMIT_S MARK [--dry-run]
//
// The latter two go on until they are ended, STATE is gone, or LIMIT_S is over, when they restore
// the clock themselves. strobe: the clock is ahead for PERIOD_MS, then right for as long, and so
// on. drift: the clock runs at RATE times its speed, from the true time on, in steps of a few
// milliseconds. MARK is anything, by which the process can be found.
//
// STATE is a file with the nanoseconds by which the wall clock was ahead of the monotonic one
// before anybody moved it. It is there before the clock is moved, and until it is right again, so
// each of these can be repeated, and done twice at once. It must not outlive a reboot. A dry run
// prints the time in nanoseconds that it would set, and changes nothing.
//
// Exit status: 0 done; 1 a file or the clock failed; 2 wrong arguments; 3 refused, since the clock
// is not this host's own, or may not be set. Needs nothing but libc.
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr std::int64_t kTolerance_ns = 50'000'000;
constexpr std::int64_t kDriftStep_ns = 20'000'000;
// PROC_PID_INIT_INO of linux/proc_ns.h: a process elsewhere is in a container.
constexpr ino_t kFirstPidNamespace = 0xEFFFFFFC;

int failed(const char* what, const char* which) {
  std::fprintf(stderr, "%s %s: %s\n", what, which, std::strerror(errno));
  return 1;
}

int refused(const char* why) {
  std::fprintf(stderr, "the clock is not set: %s\n", why);
  return 3;
}

std::int64_t now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * kSecond_ns + time.tv_nsec;
}

bool may_set_clock() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (syscall(SYS_capget, &header, data) != 0) return false;
  return (data[CAP_TO_INDEX(CAP_SYS_TIME)].effective & CAP_TO_MASK(CAP_SYS_TIME)) != 0;
}

bool in_container() {
  struct stat space {};
  return stat("/proc/self/ns/pid", &space) != 0 || space.st_ino != kFirstPidNamespace;
}

// 0, or the exit status.
int check_allowed() {
  if (!may_set_clock()) return refused("this needs root with CAP_SYS_TIME");
  if (in_container()) return refused("this is a container, whose clock is the whole machine's");
  return 0;
}

bool read_state(const char* path, std::int64_t& ahead_ns) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return false;
  long long value = 0;
  const bool read = std::fscanf(file, "%lld", &value) == 1;
  std::fclose(file);
  if (!read) errno = EINVAL;
  ahead_ns = value;
  return read;
}

// Whole or not at all, by renaming. Never over one that is there.
bool write_state(const char* path, std::int64_t ahead_ns) {
  char temporary[4096];
  std::snprintf(temporary, sizeof temporary, "%s.%d", path, static_cast<int>(getpid()));
  std::FILE* file = std::fopen(temporary, "we");
  if (file == nullptr) return false;
  const bool written = std::fprintf(file, "%lld\n", static_cast<long long>(ahead_ns)) > 0;
  const bool closed = std::fclose(file) == 0;
  const bool linked = written && closed && (link(temporary, path) == 0 || errno == EEXIST);
  unlink(temporary);
  return linked;
}

int set_clock(std::int64_t ahead_ns, bool dry_run) {
  const std::int64_t wanted_ns = now_ns(CLOCK_MONOTONIC) + ahead_ns;
  if (dry_run) {
    std::printf("%lld\n", static_cast<long long>(wanted_ns));
    return 0;
  }
  timespec time{};
  time.tv_sec = wanted_ns / kSecond_ns;
  time.tv_nsec = wanted_ns % kSecond_ns;
  if (clock_settime(CLOCK_REALTIME, &time) != 0) return failed("setting", "the clock");
  const std::int64_t off_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC) - ahead_ns;
  if (off_ns < kTolerance_ns && off_ns > -kTolerance_ns) return 0;
  std::fprintf(stderr, "the clock was set, but is %lld ns off\n", static_cast<long long>(off_ns));
  return 1;
}

bool number(const char* text, double& value) {
  char* end = nullptr;
  value = std::strtod(text, &end);
  return end != text && *end == '\0';
}

// What the true time is, by the state, which is made where there is none. 0, or the exit status.
int begin(const char* path, bool dry_run, std::int64_t& ahead_ns) {
  if (const int status = dry_run ? 0 : check_allowed(); status != 0) return status;
  ahead_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
  if (!dry_run && !write_state(path, ahead_ns)) return failed("writing", path);
  if (!read_state(path, ahead_ns) && errno != ENOENT) return failed("reading", path);
  return 0;
}

int skew(const char* path, const char* offset_s, bool dry_run) {
  double offset = 0;
  std::int64_t ahead_ns = 0;
  if (!number(offset_s, offset)) return 2;
  if (const int status = begin(path, dry_run, ahead_ns); status != 0) return status;
  return set_clock(ahead_ns + static_cast<std::int64_t>(offset * 1e9), dry_run);
}

int restore(const char* path, bool dry_run) {
  std::int64_t ahead_ns = 0;
  if (!read_state(path, ahead_ns)) return errno == ENOENT ? 0 : failed("reading", path);
  if (const int status = dry_run ? 0 : check_allowed(); status != 0) return status;
  if (const int status = set_clock(ahead_ns, dry_run); status != 0 || dry_run) return status;
  return unlink(path) == 0 || errno == ENOENT ? 0 : failed("removing", path);
}

void sleep_ns(std::int64_t time_ns) {
  timespec time{};
  time.tv_sec = time_ns / kSecond_ns;
  time.tv_nsec = time_ns % kSecond_ns;
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

// Sets the clock every `step_ns` to what `offset_ns` says of the time since the beginning.
template <class Offset>
int keep_moving(const char* path, double limit_s, std::int64_t step_ns, bool dry_run,
                Offset offset_ns) {
  std::int64_t ahead_ns = 0;
  if (const int status = begin(path, dry_run, ahead_ns); status != 0) return status;
  const std::int64_t start_ns = now_ns(CLOCK_MONOTONIC);
  std::int64_t since_ns = 0;
  while (static_cast<double>(since_ns) < limit_s * 1e9) {
    if (!dry_run && access(path, F_OK) != 0) return 0;
    if (const int status = set_clock(ahead_ns + offset_ns(since_ns), dry_run); status != 0) {
      return status;
    }
    sleep_ns(step_ns - since_ns % step_ns);
    since_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
  }
  return restore(path, dry_run);
}

int strobe(const char* path, const char* offset_s, const char* period_ms, const char* limit_s,
           bool dry_run) {
  double offset = 0;
  double period = 0;
  double limit = 0;
  if (!number(offset_s, offset) || !number(period_ms, period) || !number(limit_s, limit)) return 2;
  if (period < 1) return 2;
  const auto offset_ns = static_cast<std::int64_t>(offset * 1e9);
  const auto period_ns = static_cast<std::int64_t>(period * 1e6);
  return keep_moving(path, limit, period_ns, dry_run, [&](std::int64_t since_ns) {
    return since_ns / period_ns % 2 == 0 ? offset_ns : 0;
  });
}

int drift(const char* path, const char* rate_text, const char* limit_s, bool dry_run) {
  double rate = 0;
  double limit = 0;
  if (!number(rate_text, rate) || !number(limit_s, limit)) return 2;
  return keep_moving(path, limit, kDriftStep_ns, dry_run, [&](std::int64_t since_ns) {
    return static_cast<std::int64_t>(static_cast<double>(since_ns) * (rate - 1));
  });
}

int offset(const char* path) {
  std::int64_t ahead_ns = 0;
  if (!read_state(path, ahead_ns)) return failed("reading", path);
  const std::int64_t off_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC) - ahead_ns;
  std::printf("%+.3f\n", static_cast<double>(off_ns) / 1e9);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const bool dry_run = count > 2 && std::strcmp(arguments[count - 1], "--dry-run") == 0;
  if (dry_run) --count;
  const char* verb = count > 2 ? arguments[1] : "";
  if (std::strcmp(verb, "skew") == 0 && count == 4) {
    return skew(arguments[2], arguments[3], dry_run);
  }
  if (std::strcmp(verb, "restore") == 0 && count == 3) return restore(arguments[2], dry_run);
  if (std::strcmp(verb, "offset") == 0 && count == 3) return offset(arguments[2]);
  if (std::strcmp(verb, "strobe") == 0 && count == 7) {
    return strobe(arguments[2], arguments[3], arguments[4], arguments[5], dry_run);
  }
  if (std::strcmp(verb, "drift") == 0 && count == 6) {
    return drift(arguments[2], arguments[3], arguments[4], dry_run);
  }
  std::fprintf(stderr,
               "usage: ordeal-clock skew STATE OFFSET_S | restore STATE | offset STATE |\n"
               "  strobe STATE OFFSET_S PERIOD_MS LIMIT_S MARK | drift STATE RATE LIMIT_S MARK\n");
  return 2;
}
