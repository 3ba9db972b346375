#include "orchestrator/ansible.h"

#include <boost/algorithm/string.hpp>
#include <cctype>
#include <vector>

#include "remote/process.h"

namespace ordeal {
namespace {

// textwrap(3py) breaks lines at blanks, which it drops, and after hyphens.
void append_line(std::string& message, const std::string& line) {
  const std::size_t size = message.size();
  const bool in_word = size > 1 && message[size - 1] == '-' && message[size - 2] != ' ';
  if (!message.empty() && !in_word) message += ' ';
  message += line;
}

// "[WARNING]: ...", "ERROR! ..." and what continues them.
std::vector<std::string> messages_of(const std::string& output) {
  std::vector<std::string> lines;
  boost::split(lines, output, boost::is_any_of("\n"));
  std::vector<std::string> messages;
  for (const std::string& raw : lines) {
    const std::string line = boost::trim_copy(raw);
    if (line.empty()) continue;
    const bool begins = line.starts_with("[") || line.starts_with("ERROR!");
    if (begins || messages.empty()) messages.emplace_back();
    append_line(messages.back(), line);
  }
  return messages;
}

std::string without_guesses(std::string words) {
  for (const char* guess : {", but may be elsewhere", " The offending line appears"}) {
    words = words.substr(0, words.find(guess));
  }
  return words;
}

}  // namespace

Status check_ansible(const std::string& program) {
  if (program_exists(program)) return {};
  return surroundings_error(
      "{} is not installed on this machine, and inventories are read by it; install the package "
      "ansible-core",
      program);
}

std::map<std::string, std::string> ansible_environment() {
  return {{"ANSIBLE_INVENTORY_UNPARSED_FAILED", "true"},
          {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED", "true"},
          {"ANSIBLE_NOCOLOR", "true"},
          {"ANSIBLE_FORCE_COLOR", "false"},
          {"ANSIBLE_DEPRECATION_WARNINGS", "false"},
          {"LC_ALL", "C.UTF-8"}};  // it refuses to run where the locale is not UTF-8
}

std::string ansible_words(const std::string& output, const std::string& format) {
  std::string last;
  for (const std::string& message : messages_of(output)) {
    const std::string mark = " with " + format + " plugin: ";
    if (const auto at = message.find(mark); at != std::string::npos) {
      return without_guesses(message.substr(at + mark.size()));
    }
    if (message.starts_with("ERROR! ")) last = message.substr(7);
    if (last.empty()) last = message;
  }
  return without_guesses(last);
}

}  // namespace ordeal
