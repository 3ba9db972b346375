// The readers of single formats behind read_history(). `bytes` is the whole file; `name` is for
// messages.
#pragma once

#include <string_view>

#include "history/reader.h"

namespace ordeal {

// As read_history(), of the content of a file; `options.format` must be known.
Result<ReadHistory> read_bytes(std::string_view bytes, std::string_view name,
                               const ReadOptions& options);

// Text without the byte-order mark of UTF-8 that it may start with.
std::string_view without_bom(std::string_view text);

bool is_ohist(std::string_view bytes);  // also where the file ends within its magic
Result<ReadHistory> read_ohist(std::string_view bytes, std::string_view name,
                               const ReadOptions& options = {});

Result<ReadHistory> read_edn(std::string_view bytes, std::string_view name,
                             const ReadOptions& options = {});
Result<ReadHistory> read_json(std::string_view bytes, std::string_view name,
                              const ReadOptions& options = {});
Result<ReadHistory> read_plume(std::string_view bytes, std::string_view name);
Result<ReadHistory> read_dbcop(std::string_view bytes, std::string_view name);

}  // namespace ordeal
