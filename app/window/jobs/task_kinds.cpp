#include "app/window/jobs/task_kinds.h"

#include <algorithm>

namespace attnscope::window {

const std::vector<TaskKind>& task_kinds() {
  static const std::vector<TaskKind> kinds{
      opening_tasks(),      model_fetch_tasks(), salient_pair_tasks(), finding_tasks(),
      step_picture_tasks(), cost_tasks(),        calibration_tasks(),  extrapolation_tasks(),
      training_tasks(),     study_tasks(),       export_tasks(),
  };
  return kinds;
}

bool update_tasks(State& state) {
  bool changed = false;
  for (const TaskKind& kind : task_kinds()) changed |= kind.update(state);
  return changed;
}

void cancel_tasks(State& state) {
  for (const TaskKind& kind : task_kinds()) cancel_tasks(state, kind);
}

void cancel_tasks(State& state, const TaskKind& kind) {
  for (Task* task : kind.tasks(state)) {
    if (task != nullptr) task->cancel();
  }
}

bool has_task_status(const State& state) {
  return std::ranges::any_of(task_kinds(),
                             [&](const TaskKind& kind) { return kind.status(state).has_value(); });
}

std::string unfinished_file(const State& state) {
  for (const TaskKind& kind : task_kinds()) {
    if (std::string file = kind.unfinished_file(state); !file.empty()) return file;
  }
  return "";
}

}  // namespace attnscope::window
