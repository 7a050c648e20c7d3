// Learning curve of a training: losses, scores and gradient norms by step.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/training/loss_log.h"

namespace attnscope {

struct LearningCurve {
  Index steps = 0;  // of the whole training; 0: unknown
  std::vector<LossRow> rows;
  std::vector<std::string> layers;  // LossLog::layers()
  std::string expected;             // description of the task's expected map; empty: none
  struct Rise {
    Index step = 0;
    std::string text;
  };
  std::vector<Rise> rises;  // of the loss, as far as they were observed; not in the log
};

// True if a training folder has a log.
bool has_training_log(const std::filesystem::path& folder);

// Curve of a training in its folder, without the steps after `steps` (0: all); empty without a log.
// `task`: id in tasks(); empty or unknown: no expected map. Throws InputError for a broken log.
LearningCurve read_learning_curve(const std::filesystem::path& folder, const std::string& task,
                                  Index steps = 0);

}  // namespace attnscope
