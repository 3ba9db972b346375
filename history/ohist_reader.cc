// Reads .ohist files. Blocks are checked, decompressed and parsed on other threads, some ahead of
// the one that is being added to the history.
#define XXH_INLINE_ALL
#include <google/protobuf/unknown_field_set.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "history/block_decoder.h"
#include "history/completions.h"
#include "history/format.h"
#include "history/formats.h"
#include "proto/history.pb.h"

namespace ordeal {
namespace {

template <class Number>
Number get(std::string_view bytes, std::size_t at) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    number |= static_cast<Number>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

// Of a whole frame.
bool checksum_matches(std::string_view frame) {
  const std::string_view rest = frame.substr(format::kChecksumBytes);
  return get<std::uint64_t>(frame, 0) == XXH3_64bits(rest.data(), rest.size());
}

enum class Damage { none, torn, checksum, malformed };

// Whether a block starts in `bytes` behind the first one. Its zstd frame states the length that its
// prefix does (RFC 8878, 3.1.1.1), so that chance and torn blocks do not look like one.
bool holds_later_block(std::string_view bytes) {
  static constexpr std::string_view kZstdMagic{"\x28\xb5\x2f\xfd", 4};
  std::size_t at = bytes.find(kZstdMagic, format::kBlockPrefixBytes + 1);
  for (; at != std::string_view::npos; at = bytes.find(kZstdMagic, at + 1)) {
    const std::size_t length = get<std::uint32_t>(bytes, at - 4);
    const bool possible = length > 0 && length <= format::kBlockBytesMax &&
                          get<std::uint32_t>(bytes, at - 8) <= format::kCompressedBytesMax;
    const std::string_view frame = bytes.substr(at);
    if (possible && ZSTD_getFrameContentSize(frame.data(), frame.size()) == length) return true;
  }
  return false;
}

// Whether bytes were lost that are no torn end: something follows what cannot be read. A length may
// be what is damaged, so that a block only seems to go beyond the end. Zeros are what some file
// systems leave behind the last write before a loss of power.
bool lost_in_the_middle(std::string_view left, Damage damage) {
  if (damage == Damage::none || left.find_first_not_of('\0') == std::string_view::npos) {
    return false;
  }
  if (holds_later_block(left)) return true;
  if (damage == Damage::torn) return false;
  const std::size_t compressed = get<std::uint32_t>(left, format::kChecksumBytes);
  if (compressed == 0 || compressed > format::kCompressedBytesMax) return true;
  const std::string_view behind =
      left.substr(std::min(left.size(), format::kBlockPrefixBytes + compressed));
  return behind.find_first_not_of('\0') != std::string_view::npos;
}

struct ParsedBlock {
  std::unique_ptr<proto::Block> block;
  Damage damage = Damage::none;
  std::string what;  // malformed: in words
};

ParsedBlock malformed(std::string what) { return {nullptr, Damage::malformed, std::move(what)}; }

ParsedBlock parse_block(std::string_view frame) {
  if (!checksum_matches(frame)) return {nullptr, Damage::checksum, ""};
  const std::size_t length = get<std::uint32_t>(frame, format::kChecksumBytes + 4);
  const std::string_view compressed = frame.substr(format::kBlockPrefixBytes);
  const auto serialized = std::make_unique_for_overwrite<char[]>(length);
  const std::size_t got =
      ZSTD_decompress(serialized.get(), length, compressed.data(), compressed.size());
  if (ZSTD_isError(got) != 0) return malformed(ZSTD_getErrorName(got));
  if (got != length) return malformed("it is shorter than it claims");
  auto block = std::make_unique<proto::Block>();
  if (!block->ParseFromArray(serialized.get(), static_cast<int>(length))) {
    return malformed("it is no message of the format");
  }
  return {std::move(block), Damage::none, ""};
}

class OhistReader {
 public:
  OhistReader(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {}

  Result<ReadHistory> read() {
    ORDEAL_TRY(read_header());
    const std::size_t ahead = std::max(2U, std::thread::hardware_concurrency());
    std::optional<Damage> end;
    while (!end || !parsing_.empty()) {
      while (!end && parsing_.size() < ahead) end = start_next();
      if (parsing_.empty()) break;
      const std::size_t at = parsing_.front().at;
      const ParsedBlock parsed = parsing_.front().result.get();
      parsing_.pop_front();
      if (parsed.damage == Damage::malformed) return bad_block(at, parsed.what);
      if (parsed.damage == Damage::checksum) return stopped_at(at, Damage::checksum);
      if (builder_.so_far().size() == 0) reserve(*parsed.block, at);
      if (const std::string wrong = decode_block(*parsed.block, builder_); !wrong.empty()) {
        return bad_block(at, wrong);
      }
    }
    return stopped_at(at_, *end);
  }

 private:
  struct Parsing {
    std::size_t at;
    std::future<ParsedBlock> result;
  };

  Status read_header() {
    const std::size_t magic = format::kMagic.size();
    if (bytes_.size() < magic + format::kHeaderPrefixBytes) return header_torn();
    const std::size_t length = get<std::uint32_t>(bytes_, magic + format::kChecksumBytes);
    if (length > format::kHeaderBytesMax) return header_damaged();
    at_ = magic + format::kHeaderPrefixBytes + length;
    if (bytes_.size() < at_) return header_torn();
    if (!checksum_matches(bytes_.substr(magic, at_ - magic))) return header_damaged();
    proto::Header header;
    if (!header.ParseFromArray(bytes_.data() + at_ - length, static_cast<int>(length))) {
      return header_damaged();
    }
    if (header.format_version() == 0 || header.format_version() > format::kVersion) {
      return bad_input(
          "the history {} has format version {}, this Ordeal reads up to {}; use a newer one",
          name_, header.format_version(), format::kVersion);
    }
    take(header);
    return {};
  }

  void take(const proto::Header& header) {
    HistoryHeader& to = result_.header;
    to.format_version = header.format_version();
    to.campaign = header.campaign();
    to.seed = header.seed();
    to.start_time = std::chrono::system_clock::time_point(
        std::chrono::duration_cast<std::chrono::system_clock::duration>(
            std::chrono::nanoseconds(header.start_time_ns())));
    to.command = header.command();
    to.ordeal_version = header.ordeal_version();
    to.facts.insert(header.facts().begin(), header.facts().end());
    const auto& unknown = header.GetReflection()->GetUnknownFields(header);
    unknown.SerializeToString(&to.unknown_fields);
  }

  tl::unexpected<Error> header_torn() const {
    return bad_input(
        "the history {} ends after {} bytes, within its header, so it holds no operation", name_,
        bytes_.size());
  }

  tl::unexpected<Error> header_damaged() const {
    return bad_input(
        "the header of the history {} is damaged (byte {}): its checksum is wrong; use another "
        "copy",
        name_, format::kMagic.size());
  }

  // As if all blocks were like the first one. A guess only: growing without it copies everything
  // twice.
  void reserve(const proto::Block& first, std::size_t at) {
    const double frame =
        format::kBlockPrefixBytes + get<std::uint32_t>(bytes_, at + format::kChecksumBytes);
    const double blocks = 1.1 * static_cast<double>(bytes_.size() - at) / frame;
    const double micro_ops =
        2.0 * first.micro_key_size();  // most completions equal their invocations
    builder_.reserve(blocks * first.count(), blocks * micro_ops);
  }

  // Starts to parse the block at at_ and moves on, or says why there is none: `none` is the end.
  std::optional<Damage> start_next() {
    const std::string_view rest = bytes_.substr(at_);
    if (rest.empty()) return Damage::none;
    if (rest.size() < format::kBlockPrefixBytes) return Damage::torn;
    const std::size_t compressed = get<std::uint32_t>(rest, format::kChecksumBytes);
    const std::size_t length = get<std::uint32_t>(rest, format::kChecksumBytes + 4);
    const bool possible = compressed > 0 && compressed <= format::kCompressedBytesMax &&
                          length > 0 && length <= format::kBlockBytesMax;
    if (!possible) return Damage::checksum;
    if (rest.size() - format::kBlockPrefixBytes < compressed) return Damage::torn;
    const std::string_view frame = rest.substr(0, format::kBlockPrefixBytes + compressed);
    parsing_.push_back({at_, std::async(std::launch::async, parse_block, frame)});
    at_ += frame.size();
    return std::nullopt;
  }

  tl::unexpected<Error> bad_block(std::size_t at, std::string_view what) const {
    return bad_input(
        "the history {} has a block at byte {} that no Ordeal of this version writes: {}", name_,
        at, what);
  }

  // What is left of a run that was killed, or of a damaged disk, starts with a whole history.
  ReadHistory stopped_at(std::size_t at, Damage damage) {
    const std::size_t left = bytes_.size() - at;
    const std::size_t kept = builder_.so_far().size();
    result_.damaged = lost_in_the_middle(bytes_.substr(at), damage);
    if (damage == Damage::torn && !result_.damaged) {
      result_.warnings.push_back(
          fmt::format("the history {} ends within a block (byte {}), as when its run was killed: "
                      "its last {} bytes "
                      "are left out, the {} operations before them are kept",
                      name_, at, left, kept));
    } else if (damage != Damage::none) {
      result_.warnings.push_back(
          fmt::format("the history {} is damaged at byte {}: the {} of the block there is "
                      "wrong, so the last "
                      "{} bytes are left out and the {} operations before them are kept",
                      name_, at, damage == Damage::torn ? "length" : "checksum", left, kept));
    }
    result_.history = std::move(builder_).build();
    return std::move(result_);
  }

  std::string_view bytes_;
  std::string_view name_;
  std::size_t at_ = 0;
  std::deque<Parsing> parsing_;
  HistoryBuilder builder_;
  ReadHistory result_;
};

}  // namespace

bool is_ohist(std::string_view bytes) {
  const std::size_t compared = std::min(bytes.size(), format::kMagic.size());
  return compared > 0 && bytes.substr(0, compared) == format::kMagic.substr(0, compared);
}

Result<ReadHistory> read_ohist(std::string_view bytes, std::string_view name,
                               const ReadOptions& options) {
  if (!is_ohist(bytes)) {
    return bad_input("{} is no .ohist history: it does not start with the mark of one", name);
  }
  ORDEAL_TRY_ASSIGN(ReadHistory read, OhistReader(bytes, name).read());
  if (const auto mismatch = options.repair ? "" : first_mismatch(read.history); !mismatch.empty()) {
    return bad_input("in the history {}, {}", name, mismatch);
  }
  return read;
}

}  // namespace ordeal
