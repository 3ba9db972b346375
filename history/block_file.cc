#include "history/block_file.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "history/block_encoder.h"
#include "history/format.h"
#include "proto/history.pb.h"

namespace ordeal {
namespace {

template <class Number>
void put(std::vector<char>& out, std::size_t at, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    out[at + i] = static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
  }
}

// Of the frame that starts at `at` and is otherwise complete.
void put_checksum(std::vector<char>& out, std::size_t at) {
  const std::size_t begin = at + format::kChecksumBytes;
  put(out, at, std::uint64_t{XXH3_64bits(out.data() + begin, out.size() - begin)});
}

// See format::kCopiedMax.
std::size_t copied_elements(const proto::Block& block) {
  std::size_t copied = 0;
  for (int i = 0; i < block.list_shared_size(); ++i) {
    if (block.list_rest(i) != 0) copied += block.list_shared(i);
  }
  return copied;
}

std::string serialize(const HistoryHeader& header) {
  proto::Header message;
  message.set_format_version(format::kVersion);
  message.set_campaign(header.campaign);
  message.set_seed(header.seed);
  message.set_start_time_ns(
      std::chrono::duration_cast<std::chrono::nanoseconds>(header.start_time.time_since_epoch())
          .count());
  message.set_command(header.command);
  message.set_ordeal_version(header.ordeal_version);
  for (const auto& [name, value] : header.facts) (*message.mutable_facts())[name] = value;
  return message.SerializeAsString() + header.unknown_fields;
}

// A new file's name is durable only once its directory is.
void sync_directory_of(const std::filesystem::path& path) {
  const auto directory = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

std::string_view advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "; free some space, or choose another --store";
    case EFBIG:
      return "; raise the limit of file sizes (ulimit -f)";
    case EEXIST:
      return "; a history is never overwritten, choose another name";
    case ENOENT:
      return "; create its directory first";
    case EACCES:
    case EROFS:
    case EPERM:
      return "; choose a --store that this user may write to";
    default:
      return "";
  }
}

}  // namespace

struct BlockFile::Scratch {
  proto::Block block;
  std::string serialized;
  std::vector<char> framed;
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> compressor{ZSTD_createCCtx(),
                                                                  &ZSTD_freeCCtx};
};

BlockFile::BlockFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor), scratch_(std::make_unique<Scratch>()) {}

BlockFile::~BlockFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

tl::unexpected<Error> BlockFile::failed(std::string_view action, int error_number) const {
  return surroundings_error("cannot {} the history {}: {}{}", action, path_.string(),
                            std::strerror(error_number), advice(error_number));
}

Result<std::unique_ptr<BlockFile>> BlockFile::create(const std::filesystem::path& path,
                                                     const HistoryHeader& header) {
  const int descriptor =
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  const int open_error = errno;
  std::unique_ptr<BlockFile> file(new BlockFile(path, descriptor));
  if (descriptor < 0) return file->failed("create", open_error);
  ORDEAL_TRY(file->start(header));
  return file;
}

Status BlockFile::start(const HistoryHeader& header) {
  const std::string serialized = serialize(header);
  if (serialized.size() > format::kHeaderBytesMax) {
    return bad_input("the header of the history {} has {} bytes; at most {} are allowed",
                     path_.string(), serialized.size(), format::kHeaderBytesMax);
  }
  std::vector<char> bytes(format::kMagic.begin(), format::kMagic.end());
  const std::size_t prefix = bytes.size();
  bytes.resize(prefix + format::kHeaderPrefixBytes);
  put(bytes, prefix + format::kChecksumBytes, static_cast<std::uint32_t>(serialized.size()));
  bytes.insert(bytes.end(), serialized.begin(), serialized.end());
  put_checksum(bytes, prefix);
  ORDEAL_TRY(write_all(bytes));
  ORDEAL_TRY(sync());
  sync_directory_of(path_);
  return {};
}

Status BlockFile::append(std::span<const Operation> operations) {
  if (operations.empty()) return {};
  auto& [block, serialized, framed, compressor] = *scratch_;
  const bool few = operations.size() <= format::kOperationsMax;
  if (few) {
    encode_block(operations, block);
    if (block.ByteSizeLong() <= format::kBlockBytesMax &&
        copied_elements(block) <= format::kCopiedMax) {
      block.SerializeToString(&serialized);
      return append_serialized();
    }
  }
  if (operations.size() == 1) {
    return bad_input(
        "operation {} is too large for a history file: {} bytes, at most {} are allowed",
        operations.front().index, block.ByteSizeLong(), format::kBlockBytesMax);
  }
  const std::size_t half = operations.size() / 2;
  ORDEAL_TRY(append(operations.first(half)));
  return append(operations.subspan(half));
}

Status BlockFile::append_serialized() {
  auto& [block, serialized, framed, compressor] = *scratch_;
  framed.resize(format::kBlockPrefixBytes + ZSTD_compressBound(serialized.size()));
  char* const data = framed.data() + format::kBlockPrefixBytes;
  const std::size_t compressed =
      ZSTD_compressCCtx(compressor.get(), data, framed.size() - format::kBlockPrefixBytes,
                        serialized.data(), serialized.size(), format::kCompressionLevel);
  if (ZSTD_isError(compressed) != 0) {
    return internal_error("cannot compress a block of the history {}: {}", path_.string(),
                          ZSTD_getErrorName(compressed));
  }
  framed.resize(format::kBlockPrefixBytes + compressed);
  put(framed, format::kChecksumBytes, static_cast<std::uint32_t>(compressed));
  put(framed, format::kChecksumBytes + 4, static_cast<std::uint32_t>(serialized.size()));
  put_checksum(framed, 0);
  return write_all(framed);
}

Status BlockFile::write_all(std::span<const char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = ::write(descriptor_, bytes.data() + done, bytes.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (wrote < 0 && errno != EINTR) {
      const int error_number = errno;
      // Half a block would only make the reader warn. If this fails too, it will.
      if (::ftruncate(descriptor_, static_cast<off_t>(size_bytes_)) != 0) errno = error_number;
      return failed("write to", error_number);
    }
  }
  size_bytes_ += bytes.size();
  return {};
}

Status BlockFile::sync() {
  if (::fdatasync(descriptor_) != 0) return failed("sync", errno);
  return {};
}

Status BlockFile::close() {
  if (descriptor_ < 0) return {};
  Status synced = sync();
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (synced && closed != 0) return failed("close", errno);
  return synced;
}

}  // namespace ordeal
