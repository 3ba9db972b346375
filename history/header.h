// What a history file says about the run that recorded it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

namespace ordeal {

struct HistoryHeader {
  std::uint32_t format_version = 0;  // set by the writer; 0 when the history is no .ohist file
  std::string campaign;
  std::uint64_t seed = 0;
  std::chrono::system_clock::time_point start_time;  // wall clock, when Operation::time was 0
  std::string command;                               // repeats the run
  std::string ordeal_version;
  std::map<std::string, std::string> facts;  // free: "target" -> "postgres 15.4", ...
  std::string
      unknown_fields;  // written by a newer Ordeal: kept as they are when copied to a new file
};

}  // namespace ordeal
