#include "tests/targets/transactions.h"

#include <catch2/catch.hpp>
#include <utility>

namespace ordeal {

std::string described(const Trouble& trouble) {
  if (!trouble) return "ok";
  if (const auto* fail = std::get_if<Fail>(&*trouble)) return "fail " + fail->note;
  if (const auto* info = std::get_if<Info>(&*trouble)) return "info " + info->note;
  return "ok payload";
}

Trouble run(sql::Connection& connection, const std::vector<std::string>& statements) {
  return connection.transact({}, [&](const Execute& execute) -> std::optional<std::string> {
    for (const auto& statement : statements) execute(statement);
    return std::nullopt;
  });
}

std::future<Trouble> run_async(sql::Connection& connection, std::vector<std::string> statements) {
  return std::async(std::launch::async, [&connection, statements = std::move(statements)] {
    return run(connection, statements);
  });
}

Trouble run_around(sql::Connection& connection, const std::string& before,
                   const std::function<void()>& between, const std::string& after) {
  return connection.transact({}, [&](const Execute& execute) -> std::optional<std::string> {
    execute(before);
    between();
    if (!after.empty()) execute(after);
    return std::nullopt;
  });
}

std::string query(sql::Connection& connection, const std::string& sql) {
  std::string answer = "nothing";
  const auto trouble = connection.transact({}, [&](const Execute& execute) -> sql::Note {
    answer = execute(sql)[0][0];
    return std::nullopt;
  });
  CHECK(described(trouble) == "ok");
  return answer;
}

}  // namespace ordeal
