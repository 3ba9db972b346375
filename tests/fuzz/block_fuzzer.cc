// Any bytes as the message within a block of an .ohist file, whose checksum would otherwise keep
// nearly all inputs away from the decoder.
#include "history/block_decoder.h"
#include "proto/history.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  ordeal::proto::Block block;
  if (!block.ParseFromArray(data, static_cast<int>(size))) return 0;
  ordeal::HistoryBuilder builder;
  const std::string wrong = ordeal::decode_block(block, builder);
  const ordeal::History history = std::move(builder).build();
  for (ordeal::Position at = 0; wrong.empty() && at < history.size(); ++at) history.operation(at);
  return 0;
}
