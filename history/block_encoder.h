// Turns operations into a columnar proto.Block; see docs/history-format.md. Not thread-safe.
#pragma once

#include <span>

#include "history/operation.h"

namespace ordeal {

namespace proto {
class Block;
}

// Replaces the content of `block`. At least one operation. Takes no notice of the limits of
// history/format.h.
void encode_block(std::span<const Operation> operations, proto::Block& block);

}  // namespace ordeal
