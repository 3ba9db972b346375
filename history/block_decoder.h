// Adds the operations of a columnar proto.Block to a history. Trusts nothing: every count, place
// and size is checked, since a checksum tells damage from truth but not a hostile file.
#pragma once

#include <string>

#include "history/history.h"

namespace ordeal {

namespace proto {
class Block;
}

// "" on success, else what is wrong with the block; then part of it has been added.
std::string decode_block(const proto::Block& block, HistoryBuilder& builder);

}  // namespace ordeal
