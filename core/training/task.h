// What a model is trained on. Adding a task = one new file and one line in tasks().
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/architecture.h"
#include "core/training/train.h"

namespace attnscope {

class Task {
 public:
  virtual ~Task() = default;
  virtual std::shared_ptr<const Tokenizer> tokenizer() const { return nullptr; }  // null: no text
  // The plan's model with what only the data tells: how many tokens there are.
  virtual ModelConfig config(const ModelConfig& planned) const { return planned; }
  // Sequences number, number + 1, ... of an endless supply, `count` of them and all of one step.
  // The same whatever was asked for before, so that nothing has to be stored to resume. Targets of
  // -1 do not count.
  virtual Batch batch(std::uint64_t number, Index count) = 0;
  // How well the model does on what it is never trained on: all of it, or a sample that takes no
  // longer than some steps of training. All NaN where nothing is held out.
  virtual Score score(const Checkpoint& checkpoint, bool all, const Stop& stop) const = 0;
};

// One of texts: the model has as many tokens as the tokenizer.
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
  std::string summary;  // for help: what is learned
  // Models that it suits: what they read, of which kind of input.
  Reads reads = Reads::Tokens;
  std::string input = "text";
  bool hides = false;  // the model fills in what is hidden from it, and so may look ahead
  std::string files;   // what the plan's `text` names: "text files"; empty: it may be empty
  // Tokens of a sequence, where the plan does not say it.
  std::function<Index(const TrainingPlan&)> length{};
  void (*check)(const TrainingPlan& plan) = nullptr;  // InputError where the plan does not suit
  std::unique_ptr<Task> (*make)(const TrainingPlan& plan, const Stop& stop) = nullptr;
};
const std::vector<TaskInfo>& tasks();
const TaskInfo& task(std::string_view id);  // InputError "task: expected one of ..., found ..."

TaskInfo text_task();        // the next token of text files
TaskInfo masked_task();      // hidden tokens of text files
TaskInfo repeat_task();      // random tokens that are repeated
TaskInfo recall_task();      // letters after a delay
TaskInfo brackets_task();    // nested brackets
TaskInfo numbers_task();     // numbers in words
TaskInfo image_task();       // the next pixel of pictures
TaskInfo trajectory_task();  // actions that lead to a return

// InputError where the model of a plan is none that the task could train: "model.architecture: ..".
void check_model(const TaskInfo& task, const ModelConfig& model);

}  // namespace attnscope
