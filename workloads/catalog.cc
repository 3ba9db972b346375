#include <array>

#include "workloads/bank.h"
#include "workloads/list_append.h"
#include "workloads/register.h"
#include "workloads/workload.h"

namespace ordeal {

namespace {

constexpr std::string_view kOfListAppend[] = {"list-append", "stats"};
constexpr std::string_view kOfBank[] = {"bank", "stats"};
constexpr std::string_view kOfRegister[] = {"rw-register", "stats"};

}  // namespace

std::span<const WorkloadEntry> workload_catalog() {
  static const std::array<WorkloadEntry, 3> kWorkloads = {{
      {"list-append", "transactions that append to lists and read them", kOfListAppend,
       list_append_workload_options(), make_list_append},
      {"bank", "transfers among accounts whose total is conserved", kOfBank,
       bank_workload_options(), make_bank},
      {"register", "transactions that read, write, and compare and set registers", kOfRegister,
       register_workload_options(), make_register},
  }};
  return kWorkloads;
}

}  // namespace ordeal
