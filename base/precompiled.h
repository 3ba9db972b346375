// What nearly every file includes, parsed once a build folder (ORDEAL_PRECOMPILE). Files include
// what they need all the same.
#pragma once
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
