// The constants of an .ohist file; docs/history-format.md explains them.
//
//   file  = magic, frame(header), frame(block)*
//   header frame = u64 checksum, u32 length, proto.Header
//   block frame  = u64 checksum, u32 compressed length, u32 length, zstd frame of a proto.Block
//
// Numbers are little-endian. A checksum is the XXH3-64 (seed 0) of the rest of its frame, lengths
// included.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ordeal::format {

// A byte above 127 and both kinds of line end: a transfer in text mode shows at once (as in PNG).
inline constexpr std::string_view kMagic{"\x8fOHIST\r\n\x1a\n", 10};
inline constexpr std::uint32_t kVersion = 1;

inline constexpr std::size_t kChecksumBytes = 8;
inline constexpr std::size_t kHeaderPrefixBytes = kChecksumBytes + 4;
inline constexpr std::size_t kBlockPrefixBytes = kChecksumBytes + 4 + 4;

inline constexpr std::size_t kHeaderBytesMax = std::size_t{1} << 20U;
inline constexpr std::size_t kCompressedBytesMax = std::size_t{1} << 24U;
inline constexpr std::size_t kBlockBytesMax = std::size_t{1} << 24U;  // uncompressed
inline constexpr std::size_t kOperationsMax = std::size_t{1} << 20U;  // of a block
// Elements that the lists of a block may make a reader copy: the sum of list_shared over the lists
// with both list_shared and list_rest above 0.
inline constexpr std::size_t kCopiedMax = std::size_t{1} << 24U;

inline constexpr int kCompressionLevel = 1;  // level 3 is a tenth smaller and half as fast

enum class PayloadForm : std::uint8_t {
  txn = 1,
  txn_as_invoked = 2,  // but for what its reads returned
  as_invoked = 3,
  transfer = 4,
  balances = 5,
  fault = 6,
  opaque = 7,
};

enum class ReadResult : std::uint8_t { nil = 0, list = 1, scalar = 2 };

}  // namespace ordeal::format
