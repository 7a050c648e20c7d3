// Training tasks. A new task needs a file and a line in tasks().
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/model/architecture.h"
#include "core/training/expected_map.h"
#include "core/training/text_pairs.h"
#include "core/training/train.h"

namespace attnscope {

class Task {
 public:
  virtual ~Task() = default;
  virtual std::shared_ptr<const Tokenizer> tokenizer() const { return nullptr; }  // null: no text
  // The plan's model, completed with values that depend on the data: the vocabulary size. Not used
  // if the plan starts from a model.
  virtual ModelConfig config(const ModelConfig& planned) const { return planned; }
  // Returns the `count` sequences number, number + 1, ..., which belong to one step. Does not
  // depend on earlier calls, so that resuming needs no state. Targets of -1 are not counted.
  virtual Batch batch(std::uint64_t number, Index count) = 0;
  // Score on all held-out data if `use_all`, else on a sample that costs at most a few training
  // steps. NaN if nothing is held out.
  virtual Score score(const Checkpoint& checkpoint, bool use_all) const = 0;
  // Predictions by source length on held-out data; empty for tasks without sources.
  virtual TallyByLength tally_by_length(const Checkpoint&) const { return {}; }
};

// Task on texts: the tokenizer determines the vocabulary size.
class TextualTask : public Task {
 public:
  std::shared_ptr<const Tokenizer> tokenizer() const final { return tokenizer_; }
  ModelConfig config(const ModelConfig& planned) const override {
    ModelConfig config = planned;
    config.vocabulary = tokenizer_->vocabulary_size();
    return config;
  }

 protected:
  explicit TextualTask(std::shared_ptr<const Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)) {}

  std::shared_ptr<const Tokenizer> tokenizer_;
};

struct TaskInfo {
  std::string id;
  std::string label;    // name in the window: "Associative recall"
  std::string summary;  // objective, for help texts
  // Input of compatible models.
  Reads reads = Reads::Tokens;
  std::string input = "text";
  bool masks_tokens = false;            // the model predicts masked tokens and need not be causal
  bool has_continuous_actions = false;  // the model predicts continuous actions
  std::string files;                    // required contents of the plan's `text`, e.g. "text files"
  std::string bundled_file{};           // in assets/: the window trains on it by default
  // Tokens per sequence; null: the plan determines their number.
  std::function<Index(const TrainingPlan&)> length{};
  void (*check)(const TrainingPlan& plan) = nullptr;  // throws InputError for an incompatible plan
  std::unique_ptr<Task> (*make)(const TrainingPlan& plan) = nullptr;
  std::optional<ExpectedMap> expected{};  // map that solves the task, if it is known
};
const std::vector<TaskInfo>& tasks();
const TaskInfo& task(std::string_view id);  // InputError "task: expected one of ..., found ..."

TaskInfo text_task();         // next token of text files
TaskInfo masked_task();       // masked tokens of text files
TaskInfo repeat_task();       // repeated random tokens
TaskInfo induction_task();    // repeated random letters
TaskInfo associative_task();  // values of keys that occurred before
TaskInfo recall_task();       // letters after a delay
TaskInfo brackets_task();     // nested brackets
TaskInfo addition_task();     // sums of two numbers
TaskInfo numbers_task();      // numbers in words
TaskInfo copy_task();         // random letters, copied
TaskInfo reverse_task();      // random letters, reversed
TaskInfo sort_task();         // random letters, sorted
TaskInfo image_task();        // next pixel of images
TaskInfo trajectory_task();   // actions for a desired return
TaskInfo steering_task();     // continuous actions for a desired return

// Throws InputError unless the plan generates pairs of bytes: no files, and a vocabulary of 256
// bytes and the start id 256.
void check_byte_pairs(const TrainingPlan& plan);
// Throws InputError unless the plan generates walks with states and actions of these sizes, which
// fit into the context. walks: "grid walks".
void check_walks(const TrainingPlan& plan, const char* walks, Index state_size, Index actions);
Index walk_tokens(const TrainingPlan& plan);  // of a walk of the maximum number of steps
// Mean loss per token, and as accuracy the share of matches.
Score pair_score(const TallyByLength& tallies);

// Throws InputError if the task cannot train the model: "model.architecture: ..".
void check_model(const TaskInfo& task, const ModelConfig& model);

}  // namespace attnscope
