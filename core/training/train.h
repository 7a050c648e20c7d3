// Training a model, from a plan. What it leaves in the plan's folder:
//
//   config.json, model.safetensors, tokenizer.json   the model as of the last save
//   training.safetensors                             everything that resuming needs
//   loss.csv                                         a line for every step
//   loss.png                                         the same as curves
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/stop.h"
#include "core/model/config.h"

namespace attnscope {

struct TrainingPlan {
  std::string task = "text";  // what is learned: tasks() in task.h
  // Of texts, model.vocabulary is how many tokens byte-pair encoding learns; 256: bytes. A text too
  // short for that many gives fewer.
  ModelConfig model;
  std::vector<std::filesystem::path> text;      // training files: texts, or pictures
  std::vector<std::filesystem::path> held_out;  // never trained on, byte-pair encoding included
  double held_out_share = 0;     // of the end of each text, or of the pictures, held out as well
  std::filesystem::path folder;  // checkpoint and log go here
  Index steps = 2000;
  Index batch = 12;       // sequences a step
  Index micro_batch = 0;  // sequences at a time, gradients are summed up; 0: all of the batch
  Index sequence = 0;     // tokens of a sequence; 0: the context
  Index warm_up = 100;    // steps from rate 0 to `rate`
  double rate = 1e-3, least_rate = 1e-4;  // then a cosine from one to the other
  double weight_decay = 0.1;              // of matrices, not of gains and biases
  double clip = 1.0;                      // longest gradient; 0: any
  double beta1 = 0.9, beta2 = 0.95;
  std::uint64_t seed = 1;
  Index evaluate_every = 250;  // steps; 0: at the end only
  Index score_batches = 20;    // random batches of held-out text whose mean loss is reported
  double save_every_seconds = 60;
  bool half = true;  // model.safetensors as F16
  bool operator==(const TrainingPlan&) const = default;
};

// Strict, as experiments are. {"model": {..}, "text": ["a.txt"], "steps": 2000, ...}
TrainingPlan training_plan_from_json(const Json& object, std::string_view path);
Json to_json(const TrainingPlan& plan);
// InputError where numbers do not fit one another.
void check(const TrainingPlan& plan);

Index sequence_length(const TrainingPlan& plan);  // tokens of a sequence

// How well a model does on what it was not trained on; NaN where a number has no meaning.
struct Score {
  double loss = std::numeric_limits<double>::quiet_NaN();           // nats per token
  double bits_per_byte = std::numeric_limits<double>::quiet_NaN();  // of text
  double accuracy = std::numeric_limits<double>::quiet_NaN();       // share that is right
};

struct TrainingProgress {
  Index step = 0, steps = 0;  // steps done, of how many
  double loss = 0;            // nats per token, this step
  Score held_out;             // at the last evaluation
  double tokens_per_second = 0, seconds_left = 0;
};

struct TrainingResult {
  double loss = 0;  // of the last step, nats per token; NaN when all steps were done before
  Score held_out;   // of all that is held out
  std::vector<std::string> notes;  // what one must know to trust them
};

// Resumes from the folder's training state where there is one; InputError when that is of another
// plan. A run that was stopped and resumed gives the same numbers, bit for bit, as one that was
// not, on the same number of threads. Stopped is thrown on after saving; WorkError when the loss
// is no number any more, what was saved last stays then.
TrainingResult train(const TrainingPlan& plan,
                     const std::function<void(const TrainingProgress&)>& progress,
                     const Stop& stop);

}  // namespace attnscope
