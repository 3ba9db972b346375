// Faults of the clock that one server sees, through libfaketime; the host's clock stays as it is.
// `clock-skew` moves it by a drawn offset, and back. `clock-strobe` does so again and again.
// `clock-drift` makes it run fast or slow.
#pragma once

#include <chrono>
#include <string>

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry clock_skew_fault();
FaultEntry clock_strobe_fault();
FaultEntry clock_drift_fault();

// What the drawing of offsets has in common.
inline constexpr std::string_view kJumpChoices[] = {"back", "ahead", "both"};
inline constexpr OptionSpec kJumpOption{.name = "jump",
                                        .default_value = "both",
                                        .summary = "back, ahead or both (drawn each time)",
                                        .choices = kJumpChoices};
inline constexpr OptionSpec kMaxOffsetOption{
    .name = "max-offset",
    .type = OptionType::duration,
    .default_value = "60s",
    .summary = "the clock jumps by at most this, and by at least a tenth of it",
    .minimum = 1000};  // of which a tenth can be measured

inline constexpr OptionSpec kMaxDriftOption{
    .name = "max-drift",
    .type = OptionType::integer,
    .default_value = "20",
    .summary = "the clock is fast or slow by at most this, in percent, and at least half of it",
    .minimum = 10,
    .maximum = 90};

// By the first two, as seconds with sign: "+37.500", "-0.250".
std::string draw_offset(const Options& options, Random& random);
std::string offset_text(std::chrono::milliseconds offset);
// By these and the option `period`: an offset, then the servers.
Fault draw_strobe(std::string name, const Options& options, const Terrain& terrain, Random& random);

// Of a fault that was drawn or written, as offset_text() has it whatever was written ("5", "+1e1"):
// libfaketime takes no other. bad_input where it is none, or too little to be measured.
Result<std::string> offset_of(const Fault& fault);

// By kMaxDriftOption, as the clock's speed: "0.862".
std::string draw_rate(const Options& options, Random& random);
Result<double> rate_of(const Fault& fault);
// Less gain than this cannot be told in two seconds from what asking takes.
inline constexpr double kDriftMin = 0.05;

// A clock, for probes.
struct AskedClock {
  std::string whose;  // "the server's"
  Command reading;    // prints by how many seconds it is ahead
};
// It gains that much in a second, and not, or the other way round, what the fault gives it, `gain`.
// Of one that does not answer, `silent_is_fine` decides.
Command drift_is(const AskedClock& clock, double drift, double gain, bool silent_is_fine);

// A process that moves a clock to and fro, known by the mark KIND:ID (nemesis/watchdog.h).
struct ClockMover {
  std::string kind;
  std::string id;
};
// It is there, and the clock is seen both ahead by the offset and right, within two periods and two
// seconds.
Command is_strobed(const AskedClock& clock, const ClockMover& mover, const std::string& offset,
                   double period_ms);
Command is_gone(const ClockMover& mover);

// Sets the server's clock to an offset, at the true speed: libfaketime keeps a speed that it was
// once given until it is given another.
Command set_server_clock(const ServerControl& control, const std::string& offset);

}  // namespace ordeal
