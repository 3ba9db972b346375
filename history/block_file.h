// The append side of an .ohist file: frames, compresses and writes blocks. Used by one thread at a
// time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "base/result.h"
#include "history/header.h"
#include "history/operation.h"

namespace ordeal {

class BlockFile {
 public:
  // Fails where the file exists already. The header is on disk when this returns.
  static Result<std::unique_ptr<BlockFile>> create(const std::filesystem::path& path,
                                                   const HistoryHeader& header);
  ~BlockFile();  // closes without syncing
  BlockFile(const BlockFile&) = delete;
  BlockFile& operator=(const BlockFile&) = delete;

  // Writes one block, or several where the limits of history/format.h demand it. After an error the
  // file ends with the last block that was written whole.
  Status append(std::span<const Operation> operations);
  Status sync();   // fdatasync
  Status close();  // syncs first; repeating it is harmless

 private:
  struct Scratch;  // the encoder's buffers, kept between blocks

  BlockFile(std::filesystem::path path, int descriptor);
  Status start(const HistoryHeader& header);
  Status append_serialized();
  Status write_all(std::span<const char> bytes);
  tl::unexpected<Error> failed(std::string_view action, int error_number) const;

  std::filesystem::path path_;
  int descriptor_;
  std::uint64_t size_bytes_ = 0;  // of what was written whole
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace ordeal
