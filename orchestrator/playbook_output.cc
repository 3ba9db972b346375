#include "orchestrator/playbook_output.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

namespace ordeal {
namespace {

constexpr std::size_t kLastLines = 3;
constexpr const char* kHidden = "********";

// Also as they stand within JSON. Longer ones first: one may be part of another.
std::vector<std::string> forms_of(std::vector<std::string> secrets) {
  const std::size_t count = secrets.size();
  for (std::size_t i = 0; i < count; ++i) {
    using Handler = nlohmann::json::error_handler_t;
    const std::string quoted = nlohmann::json(secrets[i]).dump(-1, ' ', true, Handler::replace);
    secrets.push_back(quoted.substr(1, quoted.size() - 2));
    std::vector<std::string> lines;
    boost::split(lines, secrets[i], boost::is_any_of("\n"));
    for (auto& line : lines) {
      if (lines.size() > 1 && !line.empty()) secrets.push_back(std::move(line));
    }
  }
  std::sort(secrets.begin(), secrets.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a < b;
  });
  secrets.erase(std::unique(secrets.begin(), secrets.end()), secrets.end());
  return secrets;
}

// "TASK [base : Install packages] ****" -> "base : Install packages"; "" for other lines.
std::string task_of(const std::string& line) {
  for (const char* begin : {"TASK [", "RUNNING HANDLER ["}) {
    if (!line.starts_with(begin)) continue;
    const auto from = std::string_view(begin).size();
    return line.substr(from, line.rfind(']') - from);
  }
  return "";
}

std::string last_line(const std::string& text) {
  const std::string trimmed = boost::trim_copy(text);
  return trimmed.substr(trimmed.rfind('\n') + 1);
}

// From the result of a module.
std::string reason_of(const std::string& text) {
  const auto result = nlohmann::json::parse(text, nullptr, false);
  if (!result.is_object()) return boost::trim_copy(text);
  const auto field = [&](const char* name) {
    const auto found = result.find(name);
    return found != result.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const std::string message = boost::trim_copy(field("msg"));
  for (const char* stream : {"stderr", "module_stderr", "stdout"}) {
    const std::string words = last_line(field(stream));
    if (words.empty() || message.find(words) != std::string::npos) continue;
    return message.empty() ? words : message + ": " + words;
  }
  return message;
}

// "n1 : ok=5 changed=2 unreachable=0 ..."
std::size_t changes_of(const std::string& line) {
  const auto at = line.find(" changed=");
  return at == std::string::npos ? 0 : std::strtoul(line.c_str() + at + 9, nullptr, 10);
}

}  // namespace

PlaybookOutput::PlaybookOutput(std::vector<std::string> secrets,
                               std::function<void(const std::string&)> on_line,
                               std::function<void(const std::string&)> on_task)
    : secrets_(forms_of(std::move(secrets))),
      on_line_(std::move(on_line)),
      on_task_(std::move(on_task)) {}

void PlaybookOutput::add(std::string_view text) {
  rest_ += text;
  std::size_t from = 0;
  for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', from)) {
    line(rest_.substr(from, end - from));
    from = end + 1;
  }
  rest_.erase(0, from);
}

void PlaybookOutput::finish() {
  if (!rest_.empty()) line(std::exchange(rest_, ""));
}

void PlaybookOutput::line(std::string text) {
  for (const std::string& secret : secrets_) boost::replace_all(text, secret, kHidden);
  on_line_(text);
  read(text);
  if (boost::trim_copy(text).empty()) return;
  last_.push_back(text.substr(0, 300));
  if (last_.size() > kLastLines) last_.erase(last_.begin());
}

void PlaybookOutput::read(const std::string& line) {
  if (std::string task = task_of(line); !task.empty()) {
    task_ = std::move(task);
    on_task_(task_);
  } else if (line.starts_with("fatal: [")) {
    read_failure(line);
  } else if (line.starts_with("...ignoring") && !failures_.empty()) {
    failures_.pop_back();
  } else if (line.find(" : ok=") != std::string::npos) {
    changes_ += changes_of(line);
  }
}

// "fatal: [n1]: FAILED! => {...}", or "[n1 -> other]" where it was delegated.
void PlaybookOutput::read_failure(const std::string& line) {
  const auto bracket = line.find(']');
  std::string host = line.substr(8, bracket - 8);
  host = host.substr(0, host.find(' '));
  const auto arrow = line.find(" => ", bracket);
  const std::string result = arrow == std::string::npos ? "" : line.substr(arrow + 4);
  failures_.push_back({host, task_, reason_of(result)});
}

std::string PlaybookOutput::last_lines() const { return boost::join(last_, " | "); }

}  // namespace ordeal
