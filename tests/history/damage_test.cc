// .ohist files that were cut, damaged, or are something else.
#include <map>

#include "history/block_file.h"
#include "history/formats.h"
#include "support.h"

namespace ordeal {
namespace {

struct Sample {
  TempDir directory;
  std::filesystem::path path = directory / "h.ohist";
  std::vector<Operation> operations = random_operations(Random(21), 90);
  std::vector<std::size_t> ends;  // of the header and of each block of 30 operations
  std::string bytes;

  Sample() {
    auto file = BlockFile::create(path, HistoryHeader{});
    REQUIRE(file.has_value());
    for (std::size_t i = 0; i <= 3; ++i) {
      if (i > 0)
        REQUIRE((*file)->append(std::span(operations).subspan(30 * (i - 1), 30)).has_value());
      ends.push_back(std::filesystem::file_size(path));
    }
    REQUIRE((*file)->close().has_value());
    bytes = slurp(path);
  }

  std::vector<Operation> first(std::size_t count) const {
    return {operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(count)};
  }
};

TEST_CASE("a file cut at any byte keeps all blocks before the cut") {
  const Sample sample;
  for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
    CAPTURE(size);
    const std::string_view bytes = std::string_view(sample.bytes).substr(0, size);
    auto result = read_ohist(bytes, "h.ohist");
    if (size < sample.ends[0]) {
      REQUIRE_FALSE(result.has_value());
      CHECK_THAT(result.error().message, Catch::Contains(size == 0 ? "mark" : "within its header"));
      continue;
    }
    std::size_t whole = 0;
    while (sample.ends[whole + 1] <= size) ++whole;
    REQUIRE(result.has_value());
    const ReadHistory read = *std::move(result);
    CHECK(operations_of(read.history) == sample.first(30 * whole));
    CHECK(read.warnings.size() == (size == sample.ends[whole] ? 0 : 1));
    CHECK_FALSE(read.damaged);
    if (!read.warnings.empty()) {
      CHECK_THAT(read.warnings[0], Catch::Contains("byte " + std::to_string(sample.ends[whole])));
    }
  }
}

TEST_CASE("one flipped bit anywhere is noticed, and the blocks before it are kept") {
  const Sample sample;
  for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
    CAPTURE(at);
    std::string bytes = sample.bytes;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    auto result = read_ohist(bytes, "h.ohist");
    if (at < sample.ends[0]) {
      CHECK_FALSE(result.has_value());
      continue;
    }
    std::size_t block = 0;
    while (sample.ends[block + 1] <= at) ++block;
    REQUIRE(result.has_value());
    const ReadHistory read = *std::move(result);
    CHECK(operations_of(read.history) == sample.first(30 * block));
    // Behind the last block nothing follows, except where its length became impossible.
    if (block < 2) CHECK(read.damaged);
    if (block == 2 && at >= sample.ends[2] + 16) CHECK_FALSE(read.damaged);
    REQUIRE(read.warnings.size() == 1);
    CHECK_THAT(read.warnings[0], Catch::Contains("byte " + std::to_string(sample.ends[block])));
  }
}

TEST_CASE("the end of a file names what is wrong with it") {
  const TempDir directory;
  spit(directory / "empty.ohist", "");
  CHECK_THAT(read_error(directory / "empty.ohist"), Catch::Contains("is empty"));
  const Sample sample;
  spit(sample.path, std::string_view(sample.bytes).substr(0, 4));
  CHECK_THAT(read_error(sample.path),
             Catch::Contains("h.ohist ends after 4 bytes, within its header"));
  spit(sample.path, std::string_view(sample.bytes).substr(0, sample.ends[1] + 1));
  CHECK_THAT(read_ok(sample.path).warnings.at(0), Catch::Contains("its last 1 bytes are left out"));
}

TEST_CASE("damage to a checksum is called that") {
  const Sample sample;
  std::string bytes = sample.bytes;
  bytes[sample.ends[1] + 40] = static_cast<char>(~bytes[sample.ends[1] + 40]);
  spit(sample.path, bytes);
  const std::string warning = read_ok(sample.path).warnings.at(0);
  CHECK_THAT(warning, Catch::Contains("damaged at byte " + std::to_string(sample.ends[1])));
  CHECK_THAT(warning, Catch::Contains("checksum"));
  CHECK_THAT(warning, Catch::Contains("30 operations before them are kept"));
}

TEST_CASE("a history is damaged where more follows what cannot be read, not where it is torn") {
  const Sample sample;
  const auto damaged = [](const std::string& bytes) {
    auto read = read_ohist(bytes, "h.ohist");
    REQUIRE(read.has_value());
    return read->damaged;
  };
  CHECK_FALSE(damaged(sample.bytes));
  CHECK_FALSE(damaged(sample.bytes + std::string(5000, '\0')));
  CHECK(damaged(sample.bytes + std::string(16, '\0') + "more"));
  std::string longer = sample.bytes;
  longer[sample.ends[0] + 8 + 2] = '\x20';  // the first block now seems to go beyond the end
  CHECK(damaged(longer));
  CHECK_THAT(read_ohist(longer, "h.ohist")->warnings.at(0),
             Catch::Contains("the length of the block"));
  CHECK(damaged(longer.substr(0, sample.ends[1] + 40)));  // though what follows it is torn
  longer = sample.bytes;
  longer[sample.ends[2] + 8 + 2] = '\x20';
  CHECK_FALSE(damaged(longer));  // cannot be told from a torn end
}

TEST_CASE("a foreign file is refused with a clear message") {
  const TempDir directory;
  const auto path = directory / "f";
  const std::map<std::string, std::string> files{
      {"ELF",
       "\x7f"
       "ELF\x02\x01\x01"},
      {"text", "hello, world\n"},
      {"a JSON number", "17"},
      {"XML", "<history/>"},
      {"zeros", std::string(100, '\0')},
  };
  for (const auto& [name, bytes] : files) {
    CAPTURE(name);
    spit(path, bytes);
    CHECK_THAT(read_error(path), Catch::Contains("is no history that Ordeal knows"));
    CHECK_THAT(read_error(path, "ordeal"), Catch::Contains("is no .ohist history"));
  }
}

TEST_CASE("what cannot be opened, and formats that do not exist, are bad input") {
  const TempDir directory;
  CHECK_THAT(read_error(directory / "none"), Catch::Contains("No such file"));
  CHECK_THAT(read_error(directory / ""), Catch::Contains("directory"));
  CHECK_THAT(read_error(directory / "none", "ordael"), Catch::Contains("\"ordeal\""));
}

}  // namespace
}  // namespace ordeal
