// Memory estimates for runs and training.
#pragma once

#include <string>
#include <vector>

#include "core/model/architecture.h"
#include "core/model/model.h"

namespace attnscope {

struct MemoryItem {
  std::string label;  // "Performer with features=1000000"
  double bytes = 0;
};

// Run whose memory is estimated.
struct RunMemoryRequest {
  RunLength length;
  bool maps = false;       // keeps the attention maps of all heads
  bool gradients = false;  // of all weights
};

// Peak memory of a run of `config` beyond the stored weights: newly created weights, recorded
// activations, attention maps if kept, and workspace of the variants; largest first. stored: the
// checkpoint's model.
std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config,
                                    const RunMemoryRequest& of);
double total_bytes(const std::vector<MemoryItem>& items);

// Throws InputError if that exceeds the budget (core/base/memory_budget.h). The message names the
// largest item and the largest parameter value or number of tokens that fits. Maps are counted if
// keeps_attention() is true.
void check_memory(const Model& stored, const ModelConfig& config, RunLength length,
                  bool gradients = false);
// The same for a single operation, beyond its input.
void check_memory(const OperationInput& input, bool maps);

// Training step whose memory is estimated.
struct TrainingMemoryRequest {
  RunLength length;       // of a sequence
  Index micro_batch = 1;  // sequences processed together, out of `batch`
  Index batch = 1;
};
// Peak memory of training a model of `config`, including its weights.
std::vector<MemoryItem> training_memory_need(const ModelConfig& config,
                                             const TrainingMemoryRequest& of);
// Throws InputError if that exceeds the budget, with the number of sequences at a time that fits.
void check_training_memory(const ModelConfig& config, const TrainingMemoryRequest& of);

// True if the attention maps of all heads fit in 512 MB and an eighth of the budget, so that they
// are kept; otherwise they are recomputed from queries and keys on demand.
bool keeps_attention(const ModelConfig& config, RunLength length);

}  // namespace attnscope
