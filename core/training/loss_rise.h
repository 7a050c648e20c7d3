// Rises of the training loss, and the batch that made them.
//
// The loss of a step rises if it lies far above those of the steps before. Either the update of the
// step before made the model worse: then the loss of that step's own batch has risen, too, although
// the update should lower it. Or the model is as good as before, and the batch is hard.
#pragma once

#include <string>
#include <vector>

#include "core/training/loss_log.h"
#include "core/training/task.h"

namespace attnscope {

struct LossRise {
  Index step = 0;             // whose loss is high
  double loss = 0, mean = 0;  // of that step, and of the steps before
  Index batch_step = 0;       // step whose batch made the rise
  bool is_update = false;     // the update with the batch made it, rather than a hard batch
  struct Sequence {
    std::string text;  // empty for a model without tokenizer
    double loss = 0;
  };
  std::vector<Sequence> sequences;  // of the batch, those with the largest losses first
};

// Mean of the last losses if `loss`, that of the next step, rises above them; NaN if it does not.
double mean_before_rise(const std::vector<LossRow>& rows, double loss);

// Finds the batch of a rise, with the model before the update of the step after `before`. `loss`:
// of that step; `mean`: mean_before_rise().
LossRise explain_rise(const LossRow& before, double loss, double mean, const Checkpoint& checkpoint,
                      Task& task, Index batch_size);

// "step 312: loss 3.10, 1.20 before; raised by the update with the batch of step 311: "kqb" (4.10)"
std::string describe(const LossRise& rise);

}  // namespace attnscope
