// Training a model on text, from a plan. What it leaves in the plan's folder:
//
//   config.json, model.safetensors, tokenizer.json   the model as of the last save
//   training.safetensors                             everything that resuming needs
//   loss.csv                                         a line for every step
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/stop.h"
#include "core/model/config.h"

namespace attnscope {

struct TrainingPlan {
  // model.vocabulary is how many tokens byte-pair encoding learns; 256: bytes. A text too short
  // for that many gives fewer.
  ModelConfig model;
  std::vector<std::filesystem::path> text;      // training files
  std::vector<std::filesystem::path> held_out;  // never trained on, byte-pair encoding included
  double held_out_share = 0;     // of the end of each training file, held out as well
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
  double save_every_seconds = 60;
  bool half = true;  // model.safetensors as F16
  bool operator==(const TrainingPlan&) const = default;
};

// Strict, as experiments are. {"model": {..}, "text": ["a.txt"], "steps": 2000, ...}
TrainingPlan training_plan_from_json(const nlohmann::json& object, std::string_view path);
nlohmann::json to_json(const TrainingPlan& plan);
// InputError where numbers do not fit one another.
void check(const TrainingPlan& plan);

struct TrainingProgress {
  Index step = 0, steps = 0;          // steps done, of how many
  double loss = 0;                    // nats per token, this step
  double held_out_bits_per_byte = 0;  // at the last evaluation; NaN before
  double tokens_per_second = 0, seconds_left = 0;
};

struct TrainingResult {
  double loss = 0;  // of the last step, nats per token; NaN when all steps were done before
  double held_out_bits_per_byte = 0;  // over the whole held-out text; NaN when there is none
};

// Resumes from the folder's training state where there is one; InputError when that is of another
// plan. A run that was stopped and resumed gives the same numbers, bit for bit, as one that was
// not, on the same number of threads. Stopped is thrown on after saving; WorkError when the loss
// is no number any more, what was saved last stays then.
TrainingResult train(const TrainingPlan& plan,
                     const std::function<void(const TrainingProgress&)>& progress,
                     const Stop& stop);

}  // namespace attnscope
