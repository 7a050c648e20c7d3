// Start of a training from another model (TrainingPlan::from): its weights and tokenizer.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/training/train.h"

namespace attnscope {

// The model that the plan starts from. Throws InputError if its weights or its tokenizer cannot be
// trained: quantised weights, another vocabulary than that of the plan's model.
std::shared_ptr<const Checkpoint> start_checkpoint(const TrainingPlan& plan);

// Weights of a model that starts from another one, by name.
struct StartedWeights {
  std::vector<std::string> kept, initial;  // of the new model
  std::vector<std::string> unused;         // of the other model
};
// Replaces the weights of `model` by those of `start` with the same name, shape and owner (block,
// variant, encoding, ...). Optional weights that only `start` has are added. Throws InputError if
// no weight is kept.
StartedWeights take_weights(const Checkpoint& start, Model& model);

// "starts from twin-rope: 38 weights kept; initialised: exit.b, exit.w; not used: ..."
std::string describe(const StartedWeights& weights, const std::string& start);

// Names with numbers replaced by "*", each once, at most eight: "layers.*.attn.wq, exit.w".
std::string weight_groups(const std::vector<std::string>& names);

// Those of `names` that match one of the patterns, in which "*" stands for any text; all without
// patterns. Throws InputError for a pattern that matches none.
std::set<std::string> matching_names(const std::vector<std::string>& patterns,
                                     const std::vector<std::string>& names);

}  // namespace attnscope
