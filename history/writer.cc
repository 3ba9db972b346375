#include "history/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "history/block_file.h"
#include "history/edn.h"
#include "history/edn_payload.h"
#include "history/json_values.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockOperations = 8192;

Status write_ohist(const fs::path& path, const History& history, const HistoryHeader& header) {
  ORDEAL_TRY_ASSIGN(auto file, BlockFile::create(path, header));
  std::vector<Operation> operations;
  for (Position begin = 0; begin < history.size();) {
    const auto end = static_cast<Position>(std::min(begin + kBlockOperations, history.size()));
    operations.clear();
    for (; begin < end; ++begin) operations.push_back(history.operation(begin));
    ORDEAL_TRY(file->append(operations));
  }
  return file->close();
}

struct TextForm {
  std::string (*line)(const Operation&);
  std::string_view open;
  std::string_view separator;
  std::string_view close;
};

tl::unexpected<Error> cannot_write(const fs::path& path, int error_number) {
  return surroundings_error("cannot write the history {}: {}", path.string(),
                            std::strerror(error_number));
}

Status write_text(const fs::path& path, const History& history, const TextForm& form) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wbxe"),
                                                             &std::fclose);
  if (!file) return cannot_write(path, errno);
  const auto put = [&](std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  };
  bool written = put(form.open);
  for (Position at = 0; at < history.size() && written; ++at) {
    written = (at == 0 || put(form.separator)) && put(form.line(history.operation(at)));
  }
  written = written && put(form.close);
  if (!written || std::fflush(file.get()) != 0) return cannot_write(path, errno);
  return {};
}

Status write_as(const fs::path& path, std::string_view extension, const History& history,
                const HistoryHeader& header) {
  if (extension == ".ohist") return write_ohist(path, history, header);
  if (extension == ".edn") return write_text(path, history, {edn_line, "", "\n", "\n"});
  if (extension == ".jsonl") return write_text(path, history, {json_line, "", "\n", "\n"});
  return write_text(path, history, {json_line, "[", ",\n", "]\n"});
}

}  // namespace

std::string edn_line(const Operation& operation) {
  const std::string process =
      operation.process == kNemesis ? ":nemesis" : std::to_string(operation.process.value);
  const std::string function = operation.function.empty() ? "nil" : edn_keyword(operation.function);
  const std::string note = operation.note.empty() ? "" : ", :error " + edn_string(operation.note);
  return fmt::format("{{:index {}, :time {}, :type :{}, :process {}, :f {}, :value {}{}}}",
                     operation.index, operation.time.count(), phase_name(operation.phase), process,
                     function, payload_edn(operation.payload), note);
}

// Bytes that are no UTF-8 can't stand in JSON: they become U+FFFD.
std::string json_line(const Operation& operation) {
  return operation_json(operation).dump(-1, ' ', false,
                                        nlohmann::ordered_json::error_handler_t::replace);
}

Status write_history(const fs::path& path, const History& history, const HistoryHeader& header) {
  const std::string extension = path.extension().string();
  if (extension != ".ohist" && extension != ".edn" && extension != ".json" &&
      extension != ".jsonl") {
    return bad_input(
        "cannot tell the format of {} from its extension; use .ohist, .edn, .json or .jsonl",
        path.string());
  }
  fs::path partial = path;
  partial += ".partial";
  std::error_code error;
  fs::remove(partial, error);
  if (Status written = write_as(partial, extension, history, header); !written) {
    fs::remove(partial, error);
    return written;
  }
  fs::rename(partial, path, error);
  if (error) return cannot_write(path, error.value());
  return {};
}

}  // namespace ordeal
