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
    .minimum = 1};

// By these two, as seconds with sign: "+37.500", "-0.250".
std::string draw_offset(const Options& options, Random& random);
std::string offset_text(std::chrono::milliseconds offset);

// Sets the server's clock to an offset, at the true speed: libfaketime keeps a speed that it was
// once given until it is given another.
Command set_server_clock(const ServerControl& control, const std::string& offset);

}  // namespace ordeal
