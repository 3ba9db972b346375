// Faults that destroy data, while the server is stopped: what a bad disk does. Their undo starts
// the server again; the damage stays. Refused unless the campaign says `dangerous: true`.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry dangerous_flip_bits_fault();
FaultEntry dangerous_truncate_fault();

}  // namespace ordeal
