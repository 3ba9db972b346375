// What ansible-playbook prints (callback plugin `default`), read as it comes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ordeal {

struct TaskFailure {
  std::string host;
  std::string task;
  std::string reason;
};

class PlaybookOutput {
 public:
  // `on_line` is given each line, without secrets; `on_task` the name of each task as it begins.
  PlaybookOutput(std::vector<std::string> secrets, std::function<void(const std::string&)> on_line,
                 std::function<void(const std::string&)> on_task);

  void add(std::string_view text);
  void finish();  // the last line may lack its end

  const std::string& task() const { return task_; }  // that runs; "" before the first
  const std::vector<TaskFailure>& failures() const { return failures_; }
  std::size_t changes() const { return changes_; }  // tasks that changed a host, in all
  std::string last_lines() const;                   // a few, as "a | b"

 private:
  void line(std::string text);
  void read(const std::string& line);
  void read_failure(const std::string& line);

  std::vector<std::string> secrets_;
  std::function<void(const std::string&)> on_line_;
  std::function<void(const std::string&)> on_task_;
  std::string rest_;
  std::string task_;
  std::vector<TaskFailure> failures_;
  std::vector<std::string> last_;
  std::size_t changes_ = 0;
};

}  // namespace ordeal
