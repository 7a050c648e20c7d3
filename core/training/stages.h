// Staged training: windows and sequences that grow during a training, so that the costly long
// sequences come last (Beltagy et al., 2020, Longformer, arXiv:2004.05150, section 4.2). A stage
// may mix sequences of several lengths.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/training/train.h"

namespace attnscope {

// Reads {"steps": 200, "sequence": 32, "window": 4, "rate": 0.5}; all but "steps" are optional, and
// "sequence" may be a list.
TrainingStage stage_from_json(const Json& object, std::string_view path);
Json to_json(const TrainingStage& stage);
// Reads "steps=200,sequence=32/64,window=4; steps=100". Errors begin with `path`.
std::vector<TrainingStage> stages_from_text(const std::string& text, const std::string& path);

Index step_count(const std::vector<TrainingStage>& stages);
// Index of the stage to which the step after `steps` completed ones belongs. Needs stages.
std::size_t stage_at(const TrainingPlan& plan, Index steps);
// The plan with the longest sequences and the windows of a stage, without stages.
TrainingPlan stage_plan(const TrainingPlan& plan, const TrainingStage& stage);
// Tokens per sequence of the step after `steps` completed ones: drawn from those of its stage.
Index sequence_at(const TrainingPlan& plan, Index steps);
// Throws InputError if the stages do not fit the plan.
void check_stages(const TrainingPlan& plan);

}  // namespace attnscope
