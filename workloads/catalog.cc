#include <array>

#include "workloads/bank.h"
#include "workloads/list_append.h"
#include "workloads/workload.h"

namespace ordeal {

namespace {

constexpr std::string_view kOfListAppend[] = {"list-append", "stats"};
constexpr std::string_view kOfBank[] = {"bank", "stats"};

}  // namespace

std::span<const WorkloadEntry> workload_catalog() {
  static const std::array<WorkloadEntry, 2> kWorkloads = {{
      {"list-append", "transactions that append to lists and read them", kOfListAppend,
       list_append_workload_options(), make_list_append},
      {"bank", "transfers among accounts whose total is conserved", kOfBank,
       bank_workload_options(), make_bank},
  }};
  return kWorkloads;
}

}  // namespace ordeal
