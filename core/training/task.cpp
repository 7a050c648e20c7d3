#include "core/training/task.h"

#include "core/base/error.h"

namespace attnscope {

const std::vector<TaskInfo>& tasks() {
  static const std::vector<TaskInfo> list{text_task(), repeat_task()};
  return list;
}

const TaskInfo& task(std::string_view id) {
  std::string names;
  for (const TaskInfo& info : tasks()) {
    if (info.id == id) return info;
    names += (names.empty() ? "\"" : ", \"") + info.id + "\"";
  }
  throw InputError("task: expected one of " + names + ", found \"" + std::string(id) + "\"");
}

}  // namespace attnscope
