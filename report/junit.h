// A run's verdict as JUnit XML, the form that CI servers read: one test suite for the campaign, one
// test case a checker, and one for the vacuity check. Unknown is an error, invalid a failure.
#pragma once

#include <string>

#include "report/judgement.h"

namespace ordeal {

std::string verdict_junit(const RunVerdict& verdict);

}  // namespace ordeal
