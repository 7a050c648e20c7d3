// What a training that was stopped needs to go on as if it had not been.
#pragma once

#include <filesystem>
#include <optional>

#include "core/training/optimiser.h"
#include "core/training/train.h"

namespace attnscope {

struct TrainingState {
  Index step = 0;  // steps done; data order and dropout follow from it and the seed
  NamedVars weights;
  std::map<std::string, AdamW::Moments> moments;
  Index optimiser_steps = 0;
};

// training.safetensors of the plan's folder; nothing when there is none. InputError when it is
// of another plan ("training.safetensors: belongs to a plan with rate 0.001, ...") or broken.
std::optional<TrainingState> load_state(const TrainingPlan& plan);
void save_state(const TrainingPlan& plan, const TrainingState& state);

}  // namespace attnscope
