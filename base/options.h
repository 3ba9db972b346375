// Named settings of a workload, target, fault or checker: declared in one table beside the thing
// they set, given as text in a campaign file or on the command line, validated once, then read
// without further checks. Every message names the place where the value was given.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ordeal {

// A host is a text: the name of one of the campaign's hosts, or empty; `hosts` is a list of such.
// Who knows the hosts checks them.
enum class OptionType { text, integer, real, boolean, duration, list, host, hosts };

struct OptionSpec {
  std::string_view name;  // a name that ends in ".*" declares a group of freely named text settings
  OptionType type = OptionType::text;
  std::string_view default_value;
  std::string_view summary;
  // Of an integer, real or duration (in ms); ignored for the others.
  std::int64_t minimum = 0;
  std::int64_t maximum = 1'000'000'000'000;
  std::span<const std::string_view> choices = {};  // of a text; empty means any
  // What else must hold for a given value; `name` is the full one of a group's member. The error
  // says what was expected.
  Status (*check)(std::string_view name, const std::string& text) = nullptr;
};

struct GivenOption {
  std::string text;   // a list is given as "a, b, c"
  std::string where;  // "campaign.yaml:12:5" or "--set"
};

class Options {
 public:
  using Given = std::map<std::string, GivenOption>;

  Options() = default;  // knows no option; only to be assigned to

  // Checks names and types of `given` against `specs`, and fills in defaults. `kind` names the
  // owner in messages, e.g. `workload list-append`. Fails with bad_input at the first thing that is
  // wrong.
  static Result<Options> make(std::string_view kind, std::span<const OptionSpec> specs,
                              const Given& given);

  // Asking for an option that was not declared is a bug: asserts.
  const std::string& text(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::chrono::milliseconds duration(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;
  // Where the value was given; "" for a default.
  std::string where(std::string_view name) const;
  // Members of the group declared as `prefix` + ".*", without the prefix.
  std::map<std::string, std::string> group(std::string_view prefix) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> places_;
};

// "250ms", "1.5s", "2m", "1h"; a bare number is seconds. Never negative, and at most a year.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
// The shortest of the forms above, e.g. "1500ms", "60s".
std::string format_duration(std::chrono::milliseconds duration);

}  // namespace ordeal
