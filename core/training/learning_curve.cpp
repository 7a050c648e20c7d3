#include "core/training/learning_curve.h"

#include <algorithm>
#include <limits>

#include "core/base/file.h"
#include "core/training/task.h"

namespace attnscope {

bool has_training_log(const std::filesystem::path& folder) {
  return file_exists(folder / "loss.csv");
}

LearningCurve read_learning_curve(const std::filesystem::path& folder, const std::string& task,
                                  Index steps) {
  LossLog log(folder);
  log.load_steps(steps > 0 ? steps : std::numeric_limits<Index>::max());
  LearningCurve curve;
  curve.steps = steps;
  curve.rows = log.rows();
  curve.layers = log.layers();
  const auto info = std::ranges::find(tasks(), task, &TaskInfo::id);
  if (info != tasks().end() && info->expected) curve.expected = info->expected->description;
  return curve;
}

}  // namespace attnscope
