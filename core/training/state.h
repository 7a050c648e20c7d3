// Training state for resuming an interrupted training exactly.
#pragma once

#include <filesystem>
#include <optional>

#include "core/training/optimiser.h"
#include "core/training/train.h"

namespace attnscope {

inline constexpr double kMaxFactor = 1000;  // of TrainingControls

struct TrainingState {
  Index step = 0;  // completed steps; step and seed determine data order and dropout
  NamedVars weights;
  std::map<std::string, AdamW::Moments> moments;
  Index optimiser_steps = 0;
  double rate_factor = 1, decay_factor = 1, penalty_factor = 1;  // TrainingControls
};

// Reads training.safetensors of the plan's folder; nullopt if there is no such file. Throws
// InputError if the file is broken or belongs to a plan with other settings ("training.safetensors:
// belongs to a training with other settings (rate 0.001, now 0.01); ...").
std::optional<TrainingState> load_state(const TrainingPlan& plan);
// Plan of the training state in a folder. Throws InputError if there is none or it is broken.
// Settings that a resumed training may change have their defaults.
TrainingPlan stored_plan(const std::filesystem::path& folder);
void save_state(const TrainingPlan& plan, const TrainingState& state);

}  // namespace attnscope
