// What a model is trained on. Adding a task = one new file and one line in tasks().
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"
#include "core/training/train.h"

namespace attnscope {

class Task {
 public:
  virtual ~Task() = default;
  virtual std::shared_ptr<const Tokenizer> tokenizer() const = 0;
  // inputs and targets [count, length]: sequences number, number + 1, ... of an endless supply.
  // The same whatever was asked for before, so that nothing has to be stored to resume. Targets of
  // -1 do not count.
  virtual void batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets) = 0;
  // How well the model does on what it is never trained on: all of it, or a sample that takes no
  // longer than some steps of training. All NaN where nothing is held out.
  virtual Score score(const Checkpoint& checkpoint, bool all, const Stop& stop) const = 0;
};

struct TaskInfo {
  std::string id;
  std::string summary;                      // for help: what is learned
  void (*check)(const TrainingPlan& plan);  // InputError where the plan does not suit the task
  std::unique_ptr<Task> (*make)(const TrainingPlan& plan, const Stop& stop);
};

const std::vector<TaskInfo>& tasks();
const TaskInfo& task(std::string_view id);  // InputError "task: expected one of ..., found ..."

TaskInfo text_task();    // the next token of text files
TaskInfo repeat_task();  // random tokens that are repeated

}  // namespace attnscope
