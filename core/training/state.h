// Training state for resuming an interrupted training exactly.
#pragma once

#include <filesystem>
#include <optional>

#include "core/training/optimiser.h"
#include "core/training/train.h"

namespace attnscope {

struct TrainingState {
  Index step = 0;  // completed steps; step and seed determine data order and dropout
  NamedVars weights;
  std::map<std::string, AdamW::Moments> moments;
  Index optimiser_steps = 0;
};

// Reads training.safetensors of the plan's folder; nullopt if there is no such file. Throws
// InputError if the file is broken or belongs to a plan with other settings ("training.safetensors:
// belongs to a training with other settings (rate 0.001, now 0.01); ...").
std::optional<TrainingState> load_state(const TrainingPlan& plan);
void save_state(const TrainingPlan& plan, const TrainingState& state);

}  // namespace attnscope
