// A small run with faults and a write skew, for the tests of all writers.
#pragma once

#include <string>

#include "history/history.h"
#include "report/judgement.h"

namespace ordeal::fixture {

Operation operation(std::uint64_t index, double seconds, std::int64_t process, Phase phase,
                    Payload payload, const std::string& function = "txn");
Operation fault(std::uint64_t index, double seconds, Phase phase, FaultAction action,
                const std::string& name, const std::vector<std::string>& hosts,
                const std::string& detail = "");
MicroOp append(Value key, std::int64_t element);
MicroOp read(Value key, std::vector<std::int64_t> elements);

// Two transactions that each miss the other's append, under a partition. Indexes 0 to 7; the
// transactions complete as operations 4 and 5.
History write_skew();
CheckResult write_skew_result();
RunVerdict invalid_run();

}  // namespace ordeal::fixture
