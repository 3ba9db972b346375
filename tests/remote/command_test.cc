// Quoting is judged by a real shell.
#include "remote/command.h"

#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/random.h"
#include "remote/process.h"

namespace ordeal {
namespace {

using std::chrono::seconds;

// What a program that is started through the line receives: its arguments, each ended by a zero
// byte.
std::string received(const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment = {}) {
  Command command{{"/usr/bin/printf", "%s\\0"}, {}, environment, {}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  const auto output = run_process({{"/bin/sh", "-c", shell_line(command)}}, seconds(10));
  REQUIRE(output);
  REQUIRE(output->standard_error.empty());
  return output->standard_output;
}

std::string expected(const std::vector<std::string>& arguments) {
  std::string result;
  for (const std::string& argument : arguments) result += argument + '\0';
  return result;
}

TEST_CASE("odd arguments survive a shell") {
  const std::vector<std::string> odd{"",      " ",  "a b",   "'",     "''",  "\"",  "$HOME",
                                     "`id`",  "\\", "\\\\n", "a\nb",  "\n",  "-x",  "--",
                                     "*",     "~",  "#",     "$(id)", "a;b", "a&b", "|",
                                     "{a,b}", "!x", "é",     "\t",    "A=b", "[a]", "it's $5"};
  CHECK(received(odd) == expected(odd));
  for (const std::string& argument : odd) CHECK(received({argument}) == expected({argument}));
}

TEST_CASE("random arguments survive a shell") {
  Random random(7);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> arguments(1 + random.below(4));
    for (std::string& argument : arguments) {
      const auto length = random.below(12);
      while (argument.size() < length) argument += static_cast<char>(random.between(1, 255));
    }
    CHECK(received(arguments) == expected(arguments));
  }
}

TEST_CASE("odd values of the environment survive a shell") {
  const std::string value = "it's \"$5\"\n -x";
  Command command{{"sh", "-c", "printf %s \"$ODD\""}, {}, {{"ODD", value}}, {}};
  const auto output = run_process({{"/bin/sh", "-c", shell_line(command)}}, seconds(10));
  REQUIRE(output);
  CHECK(output->standard_output == value);
}

TEST_CASE("a command runs as another user") {
  if (geteuid() != 0) {
    WARN("skipped: only root can become another user");
    return;
  }
  Command command{
      {"sh", "-c", "id -un; id -gn; pwd; echo \"$HOME $A\""}, {}, {{"A", "b c"}}, "nobody"};
  const auto output = run_process({{"/bin/sh", "-c", shell_line(command)}}, seconds(10));
  REQUIRE(output);
  CHECK(output->standard_error == "");
  CHECK(output->standard_output == "nobody\nnogroup\n/\n/nonexistent b c\n");
}

TEST_CASE("messages show the arguments, and neither environment nor input") {
  CHECK(display({{"psql", "-c", "SELECT 1"}, "input", {{"PGPASSWORD", "secret"}}, "postgres"}) ==
        "psql -c 'SELECT 1'");
}

TEST_CASE("messages show a script as the beginning of one line") {
  CHECK(display({{"sh", "-c", "\nfirst\nsecond\n"}, {}, {}, {}}) == "sh -c ' first second '");
  CHECK(named({{"sh", "-c", "exit"}, {}, {}, {}}) == "`sh -c exit`");
  CHECK(named({{"sh", "-c", "exit"}, {}, {}, {}, "undoing pause"}) == "undoing pause");
  const std::string long_script = std::string(192, 'a') + "\u00e9";
  CHECK(display({{"sh", "-c", long_script}, {}, {}, {}}) ==
        "sh -c '" + std::string(192, 'a') + "...");
}

}  // namespace
}  // namespace ordeal
