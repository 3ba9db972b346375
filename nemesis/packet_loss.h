// Fault `packet-loss`: a drawn share of a leg's packets is dropped, each by chance (iptables).
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry packet_loss_fault();

}  // namespace ordeal
