// Memory estimates for runs and training.
#pragma once

#include <string>
#include <vector>

#include "core/base/memory_error.h"
#include "core/model/architecture.h"
#include "core/model/model.h"

namespace attnscope {

struct MemoryUser {
  std::string name;                      // "Performer", "recorded activations"
  const Parameter* parameter = nullptr;  // variant parameter that determines the bytes; or null
  Index value = 0;                       // value of the parameter
  auto operator<=>(const MemoryUser&) const = default;
};
std::string describe(const MemoryUser& user);  // "Performer with features=1000000"

struct MemoryItem {
  MemoryUser user;
  double bytes = 0;
};

// Change that makes a run or training step fit into the budget.
struct MemoryRemedy {
  enum class Kind { Parameter, Tokens, Sequences, Other } kind = Kind::Other;
  Index most = 0;  // largest parameter value, or number of tokens or sequences, that fits
  const Parameter* parameter = nullptr;  // set for Kind::Parameter
  std::string other{};  // text for Kind::Other: "a smaller model or a larger budget"
};

// Estimated memory of a run or training step that exceeds the budget.
struct MemoryNeed {
  double bytes = 0, budget = 0;
  std::string length;  // "200 tokens"
  MemoryItem largest;
  MemoryRemedy remedy;
};

struct MemoryNeedError : InputError, MemoryHint {
  explicit MemoryNeedError(const MemoryNeed& memory);
  std::string text(const MemoryControls& controls) const override;
  MemoryNeed need;
};

struct RunMemoryRequest {
  RunLength length;
  bool maps = false;        // includes the attention maps of all heads
  bool gradients = false;   // includes gradients of all weights
  bool activations = true;  // all activations are kept, see keeps_activations()
};

// Peak memory of a run of `config` beyond the stored weights: newly created weights, recorded
// activations, attention maps if requested, and workspace of the variants; largest first. stored:
// the checkpoint's model.
std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config,
                                    const RunMemoryRequest& request);
double total_bytes(const std::vector<MemoryItem>& items);

// Throws MemoryNeedError if memory_need() exceeds the budget (core/base/memory_budget.h). Counts
// attention maps if keeps_attention() is true. recomputes: the run keeps its activations only if
// keeps_activations() is true.
void check_memory(const Model& stored, const ModelConfig& config, RunLength length,
                  bool gradients = false, bool recomputes = false);
// As above for an operation, without its input. maps: counts the attention maps.
void check_memory(const OperationInput& input, bool maps);

struct TrainingMemoryRequest {
  RunLength length;       // length of a sequence
  Index micro_batch = 1;  // sequences processed together, out of `batch`
  Index batch = 1;
  bool recomputes_layers = false;  // ForwardOptions::recomputes_layers
  bool stores_bfloat = false;      // ForwardOptions::stores_bfloat
};
// Peak memory of training a model of `config`, including its weights.
std::vector<MemoryItem> training_memory_need(const ModelConfig& config,
                                             const TrainingMemoryRequest& request);
// Layers of a training step, and the mean bytes of one of them for a sequence.
struct LayerMemory {
  double layers = 0;
  double activations = 0;  // of all activations that its backward pass reads
  double input = 0;        // of its input, as float32
};
LayerMemory layer_memory(const ModelConfig& config, RunLength length);
// Throws MemoryNeedError if training_memory_need() exceeds the budget.
void check_training_memory(const ModelConfig& config, const TrainingMemoryRequest& request);

// True if the attention maps of all heads use at most 512 MB and an eighth of the budget. Traces
// then keep the maps; otherwise the maps are recomputed from queries and keys on demand.
bool keeps_attention(const ModelConfig& config, RunLength length);

// True if recorded activations and logits use at most 64 MB, or if a layer depends on more than its
// input (segments, exits, reversible layers). Other traces keep only the states between layers.
bool keeps_activations(const ModelConfig& config, RunLength length);

}  // namespace attnscope
