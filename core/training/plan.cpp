#include <limits>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/model_store.h"
#include "core/model/recomputation.h"
#include "core/model/retrieval_json.h"
#include "core/training/stages.h"
#include "core/training/task.h"

namespace attnscope {
namespace {

constexpr Index kMaxSteps = Index{1} << 40;
constexpr Index kMaxSequences = Index{1} << 20;
constexpr Index kMaxSeed = std::numeric_limits<Index>::max();

std::vector<std::string> read_texts(JsonObject& object, std::string_view key) {
  std::vector<std::string> result;
  if (!object.has(key)) return result;
  for (const Json& text : object.array(key)) {
    if (!text.is_string()) object.fail(key, "a list of names");
    result.push_back(text.get<std::string>());
  }
  return result;
}

std::vector<std::filesystem::path> read_paths(JsonObject& object, std::string_view key) {
  const std::vector<std::string> names = read_texts(object, key);
  return {names.begin(), names.end()};
}

std::vector<std::string> path_names(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::string> result;
  for (const auto& path : paths) result.push_back(path.string());
  return result;
}

void check_checkpointing(const TrainingPlan& plan) {
  const std::string refusal = recomputation_refusal(plan.model);
  if (!refusal.empty()) throw InputError(refusal);
  if (plan.retrieval) {
    throw InputError(
        "checkpointing: expected no retrieval, which reads activations of the last "
        "layer");
  }
}

// Throws InputError if the plan's retrieval cannot be used in its training.
void check_retrieval(const TrainingPlan& plan) {
  if (plan.from.empty()) {
    throw InputError(
        "retrieval: expected a model to start from (from), whose states the store contains, found "
        "none");
  }
  if (plan.task != "text") {
    throw InputError("retrieval: expected the task \"text\", found \"" + plan.task + "\"");
  }
  const RetrievalHead& head = retrieval_head(plan.retrieval->retrieval_head.id);
  const std::string reason = retrieval_refusal(plan.model, head);
  if (!reason.empty()) throw InputError(reason);
}

}  // namespace

TrainingPlan training_plan_from_json(const Json& value, std::string_view path) {
  JsonObject object(value, path);
  TrainingPlan plan;
  plan.task = object.text_or("task", plan.task);
  plan.from = object.text_or("from", "");
  plan.model = plan.from.empty() || object.has("model")
                   ? model_config_from_json(object.any("model"), object.path_of("model"))
                   : model_store()->checkpoint(plan.from)->model.config;
  plan.train_only = read_texts(object, "train_only");
  if (object.has("retrieval")) {
    plan.retrieval = retrieval_from_json(object.any("retrieval"), object.path_of("retrieval"));
  }
  plan.text = read_paths(object, "text");
  plan.held_out = read_paths(object, "held_out");
  plan.held_out_share = object.number_or("held_out_share", plan.held_out_share, 0, 0.9);
  plan.folder = object.text_or("folder", "");
  if (object.has("stages")) {
    for (const Json& stage : object.array("stages")) {
      plan.stages.push_back(stage_from_json(stage, object.path_of("stages")));
    }
  }
  if (!plan.stages.empty()) plan.steps = step_count(plan.stages);
  plan.steps = object.integer_or("steps", plan.steps, 1, kMaxSteps);
  plan.batch = object.integer_or("batch", plan.batch, 1, kMaxSequences);
  plan.micro_batch = object.integer_or("micro_batch", plan.micro_batch, 0, kMaxSequences);
  plan.sequence = object.integer_or("sequence", plan.sequence, 0, kMaxSequences);
  plan.warm_up = object.integer_or("warm_up", plan.warm_up, 0, kMaxSteps);
  plan.learning_rate = object.number_or("rate", plan.learning_rate, 0, 100);
  plan.min_learning_rate = object.number_or("least_rate", plan.min_learning_rate, 0, 100);
  plan.weight_decay = object.number_or("weight_decay", plan.weight_decay, 0, 100);
  plan.clip = object.number_or("clip", plan.clip, 0, 1e9);
  plan.beta1 = object.number_or("beta1", plan.beta1, 0, 0.9999);
  plan.beta2 = object.number_or("beta2", plan.beta2, 0, 0.999999);
  plan.seed = static_cast<std::uint64_t>(
      object.integer_or("seed", static_cast<Index>(plan.seed), 0, kMaxSeed));
  plan.evaluate_every = object.integer_or("evaluate_every", plan.evaluate_every, 0, kMaxSteps);
  plan.score_batches = object.integer_or("score_batches", plan.score_batches, 0, kMaxSequences);
  plan.save_every_seconds = object.number_or("save_every_seconds", plan.save_every_seconds, 0, 1e9);
  plan.snapshot_every = object.integer_or("snapshot_every", plan.snapshot_every, 0, kMaxSteps);
  plan.half = object.flag_or("half", plan.half);
  plan.checkpointing = object.flag_or("checkpointing", plan.checkpointing);
  plan.bfloat_storage = object.flag_or("bfloat_storage", plan.bfloat_storage);
  object.finish();
  return plan;
}

Json to_json(const TrainingPlan& plan) {
  Json object{{"task", plan.task},
              {"model", to_json(plan.model)},
              {"text", path_names(plan.text)},
              {"held_out", path_names(plan.held_out)},
              {"held_out_share", plan.held_out_share},
              {"folder", plan.folder.string()},
              {"steps", plan.steps},
              {"batch", plan.batch},
              {"micro_batch", plan.micro_batch},
              {"sequence", plan.sequence},
              {"warm_up", plan.warm_up},
              {"rate", plan.learning_rate},
              {"least_rate", plan.min_learning_rate},
              {"weight_decay", plan.weight_decay},
              {"clip", plan.clip},
              {"beta1", plan.beta1},
              {"beta2", plan.beta2},
              {"seed", plan.seed},
              {"evaluate_every", plan.evaluate_every},
              {"score_batches", plan.score_batches},
              {"save_every_seconds", plan.save_every_seconds},
              {"half", plan.half}};
  for (const TrainingStage& stage : plan.stages) object["stages"].push_back(to_json(stage));
  if (plan.snapshot_every > 0) object["snapshot_every"] = plan.snapshot_every;
  if (plan.checkpointing) object["checkpointing"] = true;
  if (plan.bfloat_storage) object["bfloat_storage"] = true;
  if (!plan.from.empty()) object["from"] = plan.from;
  if (!plan.train_only.empty()) object["train_only"] = plan.train_only;
  if (plan.retrieval) object["retrieval"] = to_json(*plan.retrieval);
  return object;
}

void check(const TrainingPlan& plan) {
  if (plan.folder.empty()) throw InputError("folder: expected a path for the model, found none");
  if (file_exists(plan.folder) && !is_folder(plan.folder)) {
    throw InputError("folder: expected a folder, found the file " + plan.folder.string());
  }
  if (plan.micro_batch > 0 && plan.batch % plan.micro_batch != 0) {
    throw InputError("batch: expected a multiple of micro_batch " +
                     std::to_string(plan.micro_batch) + ", found " + std::to_string(plan.batch));
  }
  if (plan.sequence > plan.model.context) {
    throw InputError("sequence: expected at most the context " +
                     std::to_string(plan.model.context) + ", found " +
                     std::to_string(plan.sequence));
  }
  if (!(plan.min_learning_rate <= plan.learning_rate)) {
    throw InputError("least_rate: expected at most rate " + std::to_string(plan.learning_rate) +
                     ", found " + std::to_string(plan.min_learning_rate));
  }
  check(plan.model, "model");
  if (plan.checkpointing) check_checkpointing(plan);
  if (plan.bfloat_storage && !plan.checkpointing) {
    throw InputError(
        "bfloat_storage: expected checkpointing true, since it stores the inputs of recomputed "
        "layers, found false");
  }
  const TaskInfo& info = task(plan.task);
  check_model(info, plan.model);
  if (info.length && plan.sequence > 0) {
    throw InputError("sequence: expected 0, the task " + plan.task +
                     " determines the length; found " + std::to_string(plan.sequence));
  }
  if (!info.files.empty() && plan.text.empty()) {
    throw InputError("text: expected " + info.files + " to train on, found none");
  }
  info.check(plan);
  if (plan.retrieval) check_retrieval(plan);
  check_stages(plan);
}

Index sequence_length(const TrainingPlan& plan) {
  const TaskInfo& info = task(plan.task);
  if (info.length) return info.length(plan);
  return plan.sequence > 0 ? plan.sequence : plan.model.context;
}

}  // namespace attnscope
