#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "checkers/cycles/models.h"

namespace ordeal {
namespace {

// The innermost lists of a text, and where they stand in it.
struct List {
  std::size_t begin = 0;   // of its '['
  std::size_t end = 0;     // behind its ']'
  std::string_view owner;  // the word before it inside an outer list: the key in [:r 3 [1 2]]
  std::vector<std::string_view> elements;
};

// Comparing lists is quadratic in their number; an explanation has a handful.
constexpr std::size_t kListsMax = 64;
constexpr std::size_t kTypesMax = 6;  // named in a sentence

std::size_t end_of_token(std::string_view text, std::size_t at) {
  if (text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size());
  }
  while (at < text.size() &&
         std::string_view(" ,\t\n[]\"").find(text[at]) == std::string_view::npos)
    ++at;
  return at;
}

std::vector<List> innermost_lists(std::string_view text) {
  std::vector<List> lists;
  List current;
  std::string_view last;
  std::size_t depth = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[') {
      inside = true;
      current = {at, 0, depth++ > 0 ? last : std::string_view(), {}};
      ++at;
    } else if (c == ']') {
      current.end = ++at;
      if (inside) lists.push_back(std::move(current));
      inside = false;
      if (depth > 0) --depth;
    } else if (c == ' ' || c == ',' || c == '\t' || c == '\n') {
      ++at;
    } else {
      const std::size_t end = end_of_token(text, at);
      last = text.substr(at, end - at);
      if (inside) current.elements.push_back(last);
      at = end;
    }
  }
  return lists;
}

// Reads of different keys may begin alike by chance.
bool comparable(const List& a, const List& b) {
  return a.owner.empty() || b.owner.empty() || a.owner == b.owner;
}

std::size_t common_prefix(const List& a, const List& b) {
  const auto ends =
      std::mismatch(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end());
  return static_cast<std::size_t>(ends.first - a.elements.begin());
}

// Where `list` first differs from one that begins alike; its length where none does.
std::size_t difference(const List& list, std::span<const List> lists) {
  std::size_t place = list.elements.size();
  for (const List& other : lists) {
    if (!comparable(list, other)) continue;
    const std::size_t common = common_prefix(list, other);
    if (common > 0) place = std::min(place, common);
  }
  return place;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string shortened(const List& list, std::size_t place, std::size_t elements_max) {
  const std::size_t size = list.elements.size();
  const std::size_t wanted = place < elements_max / 2 ? 0 : place - elements_max / 2;
  const std::size_t begin = std::min(wanted, size - elements_max);
  const std::size_t end = begin + elements_max;
  std::string text = begin > 0 ? "[... " : "[";
  text +=
      fmt::format("{}", fmt::join(list.elements.begin() + static_cast<std::ptrdiff_t>(begin),
                                  list.elements.begin() + static_cast<std::ptrdiff_t>(end), " "));
  return text + (end < size ? " ...]" : "]");
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string times_found(std::uint64_t count) {
  if (count == 1) return "once";
  if (count == 2) return "twice";
  return with_commas(count) + " times";
}

std::string joined(const std::vector<std::string>& names, std::string_view separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

std::string seconds_text(std::chrono::nanoseconds time) {
  return fmt::format("{:.3f} s", static_cast<double>(time.count()) / 1e9);
}

std::vector<std::string> by_weight(std::vector<std::string> types) {
  std::stable_sort(types.begin(), types.end(), cycles::more_severe);
  return types;
}

std::vector<std::string> types_by_weight(const CheckResult& result) {
  std::vector<std::string> types = by_weight(result.anomaly_types);
  const auto add = [&](const std::string& type) {
    if (!contains(types, type)) types.push_back(type);
  };
  for (const std::string& type : by_weight(result.anomaly_types_beyond)) add(type);
  for (const Anomaly& anomaly : result.anomalies) add(anomaly.type);
  return types;
}

std::string anomalies_text(const CheckResult& result) {
  std::vector<std::string> types = by_weight(result.anomaly_types);
  types.resize(std::min(types.size(), kTypesMax));
  std::vector<std::string> parts;
  for (const std::string& type : types) {
    const auto count = result.anomaly_counts.find(type);
    const bool counted = count != result.anomaly_counts.end() && count->second > 0;
    parts.push_back(counted ? fmt::format("{} ({})", type, times_found(count->second)) : type);
  }
  const std::size_t more = result.anomaly_types.size() - types.size();
  if (more > 0) parts.push_back(fmt::format("and {} more kinds", more));
  return joined(parts);
}

std::string outcomes_text(const OutcomeCounts& counts) {
  return fmt::format("{} ok, {} fail, {} info", with_commas(counts.ok), with_commas(counts.fail),
                     with_commas(counts.info));
}

std::string verdict_words(const CheckResult& result) {
  if (result.validity == Validity::unknown) {
    return result.reason.empty() ? "the checker gave no reason" : result.reason;
  }
  if (result.validity == Validity::valid) {
    if (result.model.empty() && !result.reason.empty()) return result.reason;
    return fmt::format("nothing found that {} rules out, in {} operations",
                       result.model.empty() ? result.checker : result.model,
                       with_commas(result.operations));
  }
  const std::string found = anomalies_text(result);
  if (!result.model.empty()) return fmt::format("not {}: {}", result.model, found);
  return found.empty() ? result.reason : fmt::format("{}: {}", result.checker, found);
}

std::string verdict_words(const RunVerdict& verdict) {
  for (const Judgement& judgement : verdict.judgements) {
    if (judgement.result.validity == verdict.overall) return verdict_words(judgement.result);
  }
  return verdict.reason.empty() ? "no checker judged the run" : verdict.reason;
}

std::string shorten_lists(std::string_view text, std::size_t elements_max) {
  elements_max = std::max<std::size_t>(elements_max, 1);
  const std::vector<List> lists = innermost_lists(text);
  const auto compared = std::span(lists).first(std::min(lists.size(), kListsMax));
  std::string result;
  std::size_t copied = 0;
  for (const List& list : lists) {
    if (list.elements.size() <= elements_max) continue;
    result.append(text.substr(copied, list.begin - copied));
    result += shortened(list, difference(list, compared), elements_max);
    copied = list.end;
  }
  result.append(text.substr(copied));
  return result;
}

std::string shorten(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string terminal_safe(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which some terminals obey, are C2 80 to C2 9F in UTF-8.
    const bool starts_c1 =
        byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if ((byte < 0x20 && byte != '\n') || byte == 0x7F || starts_c1) {
      safe += fmt::format("\\x{:02x}", byte);
      if (starts_c1) safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    } else {
      safe += text[i];
    }
  }
  return safe;
}

}  // namespace ordeal
