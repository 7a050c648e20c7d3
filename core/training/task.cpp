#include "core/training/task.h"

#include "core/base/error.h"
#include "core/base/find_by_id.h"
#include "core/model/capability.h"
#include "core/model/global_tokens.h"

namespace attnscope {
namespace {

std::string describe_input(Reads reads) {
  if (reads == Reads::SourceAndTarget) return "a source and its target";
  return reads == Reads::Tokens ? "one sequence of tokens" : "trajectories";
}

}  // namespace

const std::vector<TaskInfo>& tasks() {
  static const std::vector<TaskInfo> list{
      text_task(),    masked_task(),   repeat_task(),   induction_task(),  associative_task(),
      recall_task(),  brackets_task(), addition_task(), numbers_task(),    copy_task(),
      reverse_task(), sort_task(),     image_task(),    trajectory_task(), steering_task()};
  return list;
}

const TaskInfo& task(std::string_view id) {
  return find_by_id(tasks(), id, "task");
}

void check_byte_pairs(const TrainingPlan& plan) {
  if (!plan.text.empty() || !plan.held_out.empty() || plan.held_out_share > 0) {
    throw InputError("text: expected no files, since the task \"" + plan.task +
                     "\" generates its pairs");
  }
  constexpr Index kByteIds = 256;
  const Index start = plan.model.architecture.values.integer("start");
  if (plan.model.vocabulary != kByteIds + 1 || start != kByteIds) {
    throw InputError("model.vocabulary: expected 257 (bytes, and the start id 256), found " +
                     std::to_string(plan.model.vocabulary) + " with the start id " +
                     std::to_string(start));
  }
}

void check_walks(const TrainingPlan& plan, const char* walks, Index state_size, Index actions) {
  if (!plan.text.empty() || !plan.held_out.empty() || plan.held_out_share > 0) {
    throw InputError("text: expected no files, since the task \"" + plan.task +
                     "\" generates its walks");
  }
  const Values& values = plan.model.architecture.values;
  const auto expect = [&](const char* key, Index expected) {
    if (values.integer(key) == expected) return;
    throw InputError("model.architecture." + std::string(key) + ": expected " +
                     std::to_string(expected) + " for " + walks + ", found " +
                     std::to_string(values.integer(key)));
  };
  expect("state_size", state_size);
  expect("actions", actions);
  if (plan.model.context < walk_tokens(plan)) {
    throw InputError("model.context: expected at least the " + std::to_string(walk_tokens(plan)) +
                     " tokens of most_steps steps, found " + std::to_string(plan.model.context));
  }
}

Index walk_tokens(const TrainingPlan& plan) {
  constexpr Index kTokensPerStep = 3;
  return kTokensPerStep * plan.model.architecture.values.integer("most_steps");
}

Score pair_score(const TallyByLength& tallies) {
  const PairTally all = total(tallies);
  Score score = all.tokens.score();
  if (all.pairs > 0) score.accuracy = all.match_share();
  return score;
}

void check_model(const TaskInfo& task, const ModelConfig& model) {
  const Architecture& model_architecture = architecture(model.architecture.id);
  if (model_architecture.reads != task.reads) {
    throw InputError("model.architecture: expected an architecture that reads " +
                     describe_input(task.reads) + " for the task \"" + task.id + "\", found " +
                     model_architecture.id + ", which reads " +
                     describe_input(model_architecture.reads));
  }
  const bool has_global_text = task.masks_tokens && global_tokens(model) > 0;
  if (model.input.id != task.input && !has_global_text) {
    throw InputError("model.input: expected " + task.input + " for the task \"" + task.id +
                     "\", found " + model.input.id);
  }
  if (task.masks_tokens != is_masked_model(model)) {
    throw InputError(std::string("model.architecture.masked: expected ") +
                     (task.masks_tokens ? "the share of tokens to mask" : "no value") +
                     " for the task \"" + task.id + "\", found " +
                     (task.masks_tokens ? "none" : "one (only the task \"masked\" masks tokens)"));
  }
  if (task.has_continuous_actions != has_continuous_actions(model)) {
    throw InputError(std::string("model.architecture.continuous: expected ") +
                     (task.has_continuous_actions ? "true" : "false") + " for the task \"" +
                     task.id + "\", found " + (task.has_continuous_actions ? "false" : "true"));
  }
  if (leaks_future(model) && !task.masks_tokens) {
    throw InputError(
        "model.causal: expected true, found false: without a causal mask the model "
        "attends to the tokens that it is trained to predict");
  }
}

}  // namespace attnscope
