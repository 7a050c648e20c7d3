// Training state for resuming an interrupted training exactly.
#pragma once

#include <filesystem>
#include <optional>

#include "core/training/optimiser.h"
#include "core/training/train.h"

namespace attnscope {

struct TrainingState {
  Index step = 0;  // completed steps; they and the seed determine data order and dropout
  NamedVars weights;
  std::map<std::string, AdamW::Moments> moments;
  Index optimiser_steps = 0;
};

// Reads training.safetensors of the plan's folder; nullopt if there is none. Throws InputError if
// it belongs to another plan ("training.safetensors: belongs to a plan with rate 0.001, ...") or is
// broken.
std::optional<TrainingState> load_state(const TrainingPlan& plan);
void save_state(const TrainingPlan& plan, const TrainingState& state);

}  // namespace attnscope
