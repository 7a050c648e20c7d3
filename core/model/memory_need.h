// How much memory a run or a training will take, before it begins.
#pragma once

#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "core/model/model.h"

namespace attnscope {

struct MemoryItem {
  std::string what;  // "Performer with features=1000000"
  double bytes = 0;
};

// What is run, and for what.
struct MemoryOf {
  RunLength length;
  bool maps = false;       // those of all heads are kept
  bool gradients = false;  // of all weights
};

// What a run of `config` has in memory at most beyond the stored weights: weights made for the
// choice, what is recorded of the layers, their maps where these are kept, and what the variants
// work with. The largest first. `stored`: the checkpoint's model.
std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config,
                                    const MemoryOf& of);
double total_bytes(const std::vector<MemoryItem>& items);

// InputError where that is more than the budget (core/base/memory_budget.h): what asks for how
// much, and the largest value of its parameter, or the number of tokens, that would fit. Maps are
// kept as keeps_attention() says.
void check_memory(const Model& stored, const ModelConfig& config, RunLength length,
                  bool gradients = false);
// The same of one operation by itself, beyond its input.
void check_memory(const OperationInput& input, bool maps);

// What a step of training works on.
struct TrainingOf {
  RunLength length;   // of a sequence
  Index at_once = 1;  // sequences, of the `batch` of a step
  Index batch = 1;
};
// What training a model of `config` has in memory at most, its weights among that.
std::vector<MemoryItem> training_memory_need(const ModelConfig& config, const TrainingOf& of);
// InputError where that is more than the budget: with how many sequences at a time would fit.
void check_training_memory(const ModelConfig& config, const TrainingOf& of);

// Whether the maps of all heads are kept whole: while they are at most 512 MB and an eighth of the
// budget; otherwise they are worked out from queries and keys when somebody looks.
bool keeps_attention(const ModelConfig& config, RunLength length);

}  // namespace attnscope
