// Background findings (Finding::in_background), each computed on its own thread when needed.
#pragma once

#include <memory>

#include "app/window/jobs/background_task.h"
#include "core/experiment/finding.h"

namespace attnscope::window {

struct FindingTask {
  std::shared_ptr<const Session> session{};  // session of the running or last task; null: none
  FindingSettings settings{};                // settings of the task
  std::unique_ptr<BackgroundTask<Findings>> task{};

  bool is_running() const { return task != nullptr && !task->is_finished(); }
  // Reason why the finding could not be computed; empty without an error.
  std::string problem() const { return task != nullptr ? task->problem() : ""; }
};

}  // namespace attnscope::window
