// Training of a model from a plan. Files in the plan's folder:
//
//   config.json, model.safetensors, tokenizer.json   the model at the last save
//   training.safetensors                             state for resuming
//   loss.csv                                         one line per step
//   loss.png                                         the numbers of loss.csv as curves
//   snapshots/                                       models of earlier steps (snapshots.h)
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/model/config.h"
#include "core/model/retrieval.h"

namespace attnscope {

struct Checkpoint;
class LossLog;
struct LossRise;

// Part of a staged training (stages.h).
struct TrainingStage {
  Index steps = 0;  // number of steps
  // Tokens per sequence: each step draws one of these numbers. Empty: as in the plan.
  std::vector<Index> sequence = {};
  Index window = 0;  // maximum of the plan's windows, in tokens; 0: as in the plan
  double rate = 1;   // factor of the learning rate
  bool operator==(const TrainingStage&) const = default;
};

struct TrainingPlan {
  std::string task = "text";  // id in tasks() (task.h)
  // For texts, model.vocabulary is the number of tokens of byte-pair encoding (256: bytes); short
  // texts may yield fewer.
  ModelConfig model;
  // Model to start from, as load_checkpoint() reads it: `model` takes its tokenizer and the weights
  // that both have (take_weights() in start_model.h). Empty: initial weights.
  std::string from;
  // Names of the weights to train, in which "*" stands for any text; the others keep their values.
  // Empty: all weights.
  std::vector<std::string> train_only;
  // Retrieval that mixes with the predictions in training and in scores; needs `from`, whose states
  // the store contains.
  std::optional<RetrievalChoice> retrieval;
  std::vector<std::filesystem::path> text;      // training files: texts or images
  std::vector<std::filesystem::path> held_out;  // not used in training or byte-pair encoding
  double held_out_share = 0;     // fraction at the end of each text, or of the images, held out
  std::filesystem::path folder;  // folder of checkpoint and log
  Index steps = 2000;
  std::vector<TrainingStage> stages;  // in order, of `steps` steps together; empty: one stage
  Index batch = 12;                   // sequences per step
  Index micro_batch = 0;              // sequences at a time, accumulating gradients; 0: whole batch
  Index sequence = 0;                 // tokens per sequence; 0: the context
  Index warm_up = 100;                // steps of linear increase from 0 to `learning_rate`
  double learning_rate = 1e-3, min_learning_rate = 1e-4;  // cosine decay to the minimum
  double weight_decay = 0.1;  // applies to matrices, not to gains and biases
  double clip = 1.0;          // maximum norm of the gradient; 0: no clipping
  double beta1 = 0.9, beta2 = 0.95;
  std::uint64_t seed = 1;
  Index evaluate_every = 250;  // steps between scores; 0: only at the end
  Index score_batches = 20;    // number of random batches of held-out text in a score
  double save_every_seconds = 60;
  Index snapshot_every = 0;  // steps between snapshots, which include step 0; 0: none
  bool half = true;          // model.safetensors as F16, else F32
  // Activation checkpointing: the backward pass recomputes each layer from its input
  // (core/model/recomputation.h).
  bool checkpointing = false;
  bool bfloat_storage = false;  // layer inputs kept for recomputation are bfloat16
  bool operator==(const TrainingPlan&) const = default;
};

// Strict parser: {"model": {..}, "text": ["a.txt"], "steps": 2000, ...}. With "from", "model" may
// be missing: the model is then that of "from".
TrainingPlan training_plan_from_json(const Json& object, std::string_view path);
Json to_json(const TrainingPlan& plan);
// Throws InputError for inconsistent values.
void check(const TrainingPlan& plan);

Index sequence_length(const TrainingPlan& plan);  // tokens per sequence

// Score on held-out data; NaN for numbers that do not apply.
struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();           // nats per token
  double bits_per_byte = std::numeric_limits<double>::quiet_NaN();  // bits per byte of text
  double accuracy = std::numeric_limits<double>::quiet_NaN();       // accuracy of top-1 predictions
};

// Settings that another thread can change while a training runs. Saved with the training state:
// a resumed training keeps them.
struct TrainingControls {
  std::atomic<double> rate_factor{1};     // of the plan's learning rate
  std::atomic<double> decay_factor{1};    // of the plan's weight decay
  std::atomic<double> penalty_factor{1};  // of the model's penalties: ponder, span
  // Keeps these values when resuming, instead of the saved ones.
  std::atomic<bool> overrides_saved{false};
};

struct TrainingProgress {
  Index step = 0, steps = 0;  // completed steps; total steps
  double loss = 0;            // nats per token of this step
  Score held_out;             // score at the last evaluation
  double tokens_per_second = 0, seconds_left = 0;
  const LossLog* log = nullptr;    // rows of all steps; valid during the call
  const LossRise* rise = nullptr;  // if the loss of this step rose (loss_rise.h); else null
  // Copies the current model; valid during the call that receives the progress.
  std::function<std::shared_ptr<const Checkpoint>()> snapshot;
};

struct TrainingResult {
  double loss = 0;  // nats per token of the last step; NaN if no step was left
  Score held_out;   // score on all held-out data
  Score before;     // of the model that the training starts from, before its first step; else NaN
  std::string expected;  // result for the task's expected map (expected_map.h); empty: none
  std::vector<std::string> notes;  // limitations of the numbers, for the user
};

// Resumes from the training state in the folder if there is one; throws InputError if the state
// belongs to another plan. An interrupted and resumed training yields bit-identical numbers for the
// same number of threads and the same controls. Saves before rethrowing Stopped. Throws WorkError
// if the loss is not finite; the files of the last save remain. notify: receives
// Trainer::start_notes() before the first step.
TrainingResult train(const TrainingPlan& plan,
                     const std::function<void(const TrainingProgress&)>& progress,
                     const std::function<void(const std::string& note)>& notify = {},
                     std::shared_ptr<TrainingControls> controls = nullptr);

}  // namespace attnscope
