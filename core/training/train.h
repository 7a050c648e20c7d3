// Training a model on text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/stop.h"
#include "core/model/config.h"

namespace attnscope {

struct TrainingPlan {
  ModelConfig model;              // vocabulary as the tokenizer gives it
  std::string tokenizer = "bpe";  // "bpe" (trained on the text) or "bytes"
  std::int32_t vocabulary = 2048;
  std::vector<std::filesystem::path> text;       // training files
  std::vector<std::filesystem::path> held_out;   // never trained on, BPE included
  std::filesystem::path folder;                  // checkpoint and log go here
  Index steps = 2000, batch = 12, sequence = 0;  // sequence 0: the context
  Index warm_up = 100;
  double rate = 1e-3, least_rate = 1e-4;  // cosine from one to the other
  double weight_decay = 0.1, clip = 1.0, beta1 = 0.9, beta2 = 0.95;
  std::uint64_t seed = 1;
  Index evaluate_every = 250;
  double save_every_seconds = 60;
  bool half = true;  // the final weights as F16
};

struct TrainingProgress {
  Index step = 0, steps = 0;
  double loss = 0;                    // nats per token, this step
  double held_out_bits_per_byte = 0;  // at the last evaluation; NaN before
  double tokens_per_second = 0, seconds_left = 0;
};

// Resumes from the folder's training state where there is one of the same plan. Stopped saves.
void train(const TrainingPlan& plan, const std::function<void(const TrainingProgress&)>& progress,
           const Stop& stop);

// Bits per byte of a text under a checkpoint, windows of the context with half-overlap.
double bits_per_byte(const std::string& model, std::string_view text, const Stop& stop);

}  // namespace attnscope
