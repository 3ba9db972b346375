#include "remote/command.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <string_view>

namespace ordeal {
namespace {

bool is_plain(char c) {
  constexpr std::string_view kPlain = "_-./:,+@%";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlain.find(c) != std::string_view::npos;
}

// POSIX shell, 2.2.2: within single quotes everything is literal but the single quote itself, which
// is therefore closed, escaped and opened again.
std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return std::string(word);
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

void append_word(std::string& line, std::string_view word) {
  if (!line.empty()) line += ' ';
  line += shell_quoted(word);
}

// Scripts are long, and of many lines; what they begin with tells them apart well enough.
std::string one_line(std::string text) {
  std::size_t length = 200;
  boost::replace_all(text, "\n", " ");
  if (text.size() <= length) return text;
  while ((text[length] & 0xC0) == 0x80) --length;  // within a character of UTF-8
  return text.substr(0, length) + "...";
}

}  // namespace

std::string shell_line(const Command& command) {
  std::string line;
  if (!command.user.empty()) {
    // Replaces itself by the command, unlike su and runuser, so that signals reach it. The user's
    // main group need not have the user's name, so the host is asked.
    line = "setpriv --reuid " + shell_quoted(command.user) + " --regid \"$(id -g -- " +
           shell_quoted(command.user) + ")\" --init-groups --reset-env";
  }
  if (!command.user.empty() || !command.environment.empty()) append_word(line, "env");
  // The login user's home is mostly closed to another user, and servers complain about that.
  if (!command.user.empty()) line += " -C /";
  for (const auto& [name, value] : command.environment) append_word(line, name + "=" + value);
  for (const std::string& argument : command.arguments) append_word(line, argument);
  return line;
}

std::string display(const Command& command) {
  std::string line;
  for (const std::string& argument : command.arguments) append_word(line, argument);
  return one_line(line);
}

std::string named(const Command& command) {
  return command.title.empty() ? '`' + display(command) + '`' : command.title;
}

}  // namespace ordeal
