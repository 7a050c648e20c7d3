#include "core/training/task.h"

#include "core/base/find_by_id.h"

namespace attnscope {

const std::vector<TaskInfo>& tasks() {
  static const std::vector<TaskInfo> list{text_task(), repeat_task()};
  return list;
}

const TaskInfo& task(std::string_view id) {
  return find_by_id(tasks(), id, "task");
}

}  // namespace attnscope
