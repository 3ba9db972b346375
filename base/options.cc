#include "base/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <boost/lexical_cast.hpp>
#include <cassert>
#include <cmath>

#include "base/names.h"

namespace ordeal {
namespace {

using boost::conversion::try_lexical_convert;

bool is_group(const OptionSpec& spec) { return spec.name.ends_with(".*"); }

const OptionSpec* find_spec(std::span<const OptionSpec> specs, std::string_view name) {
  const auto found = std::find_if(specs.begin(), specs.end(), [&](const OptionSpec& spec) {
    if (!is_group(spec)) return spec.name == name;
    return name.starts_with(spec.name.substr(0, spec.name.size() - 1));
  });
  return found == specs.end() ? nullptr : &*found;
}

Status check_integer(const OptionSpec& spec, const std::string& text) {
  std::int64_t number = 0;
  if (!try_lexical_convert(text, number)) return bad_input("expected a whole number");
  if (number < spec.minimum || number > spec.maximum) {
    return bad_input("expected {} to {}", spec.minimum, spec.maximum);
  }
  return {};
}

Status check_text(const OptionSpec& spec, const std::string& text) {
  const auto& choices = spec.choices;
  if (choices.empty() || std::find(choices.begin(), choices.end(), text) != choices.end())
    return {};
  return bad_input("{}", unknown_name("value", text, choices));
}

Status check_duration(const OptionSpec& spec, const std::string& text) {
  ORDEAL_TRY_ASSIGN(const auto duration, parse_duration(text));
  if (duration.count() > spec.maximum) {
    return bad_input("expected at most {}",
                     format_duration(std::chrono::milliseconds(spec.maximum)));
  }
  if (duration.count() >= spec.minimum) return {};
  const std::string least =
      spec.minimum == 1 ? "more than 0"
                        : "at least " + format_duration(std::chrono::milliseconds(spec.minimum));
  return bad_input("expected {}, e.g. {}", least, spec.default_value);
}

Error unknown_option(std::span<const OptionSpec> specs, const std::string& name,
                     const std::string& text) {
  const bool of_group = find_spec(specs, name + ".") != nullptr;
  const std::string message =
      of_group ? fmt::format("{} is given by name, e.g. `{}: {{NAME: {}}}`", name, name, text)
               : unknown_name("setting", name, names_of(specs));
  return {ErrorKind::bad_input, message};
}

Status check_type(const OptionSpec& spec, const std::string& text) {
  double real = 0;
  switch (spec.type) {
    case OptionType::integer:
      return check_integer(spec, text);
    case OptionType::real:
      if (!try_lexical_convert(text, real) || !std::isfinite(real)) {
        return bad_input("expected a number");
      }
      if (real >= static_cast<double>(spec.minimum) && real <= static_cast<double>(spec.maximum)) {
        return {};
      }
      return bad_input("expected {} to {}", spec.minimum, spec.maximum);
    case OptionType::boolean:
      if (text == "true" || text == "false") return {};
      return bad_input("expected true or false");
    case OptionType::duration:
      return check_duration(spec, text);
    case OptionType::text:
    case OptionType::list:
    case OptionType::host:
    case OptionType::hosts:
      break;
  }
  return check_text(spec, text);
}

Status check_value(const OptionSpec& spec, const std::string& name, const std::string& text) {
  ORDEAL_TRY(check_type(spec, text));
  return spec.check == nullptr ? Status{} : spec.check(name, text);
}

}  // namespace

Result<Options> Options::make(std::string_view kind, std::span<const OptionSpec> specs,
                              const Given& given) {
  Options options;
  for (const auto& spec : specs) {
    if (!is_group(spec)) options.values_.emplace(spec.name, spec.default_value);
  }
  for (const auto& [name, value] : given) {
    const OptionSpec* spec = find_spec(specs, name);
    if (spec == nullptr) {
      return bad_input("{}: {}: {}", value.where, kind,
                       unknown_option(specs, name, value.text).message);
    }
    if (const auto checked = check_value(*spec, name, value.text); !checked) {
      return bad_input("{}: {}: {} is \"{}\": {}", value.where, kind, name, value.text,
                       checked.error().message);
    }
    options.values_.insert_or_assign(name, value.text);
    options.places_.insert_or_assign(name, value.where);
  }
  return options;
}

const std::string& Options::text(std::string_view name) const {
  const auto found = values_.find(name);
  assert(found != values_.end());
  return found->second;
}

std::int64_t Options::integer(std::string_view name) const {
  return boost::lexical_cast<std::int64_t>(text(name));
}

double Options::real(std::string_view name) const {
  return boost::lexical_cast<double>(text(name));
}

bool Options::boolean(std::string_view name) const { return text(name) == "true"; }

std::chrono::milliseconds Options::duration(std::string_view name) const {
  return parse_duration(text(name)).value();
}

std::vector<std::string> Options::list(std::string_view name) const {
  std::vector<std::string> parts;
  boost::split(parts, text(name), boost::is_any_of(","));
  for (auto& part : parts) boost::trim(part);
  std::erase(parts, "");
  return parts;
}

std::string Options::where(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? "" : found->second;
}

std::map<std::string, std::string> Options::group(std::string_view prefix) const {
  const std::string start = std::string(prefix) + ".";
  std::map<std::string, std::string> members;
  for (auto it = values_.lower_bound(start); it != values_.end() && it->first.starts_with(start);
       ++it) {
    members.emplace(it->first.substr(start.size()), it->second);
  }
  return members;
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const bool is_number = try_lexical_convert(std::string(text.substr(0, digits)), number);
  const std::string_view unit = text.substr(digits);
  const double factor = unit == "ms"                  ? 1
                        : unit == "s" || unit.empty() ? 1000
                        : unit == "m"                 ? 60'000
                        : unit == "h"                 ? 3'600'000
                                                      : 0;
  if (!is_number || factor == 0) {
    return bad_input("expected a duration such as 500ms, 60s, 10m or 2h");
  }
  constexpr std::chrono::milliseconds kLongest = std::chrono::hours(365 * 24);
  if (number * factor > static_cast<double>(kLongest.count())) {
    return bad_input("expected at most a year (8760h)");
  }
  return std::chrono::milliseconds(std::llround(number * factor));
}

std::string format_duration(std::chrono::milliseconds duration) {
  const auto count = duration.count();
  if (count % 1000 != 0) return fmt::format("{}ms", count);
  return fmt::format("{}s", count / 1000);
}

}  // namespace ordeal
