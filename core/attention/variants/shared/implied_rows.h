// Attention maps implied by recurrences in which every channel of a head has weights of its own
// (RWKV, Mamba). The map of a head is the mean over its channels.
#pragma once

#include <memory>
#include <vector>

#include "core/attention/variant.h"

namespace attnscope {

// Causal weights, computed row by row. Rows and keys are counted from the first token. Thread-safe.
class ImpliedRows {
 public:
  virtual ~ImpliedRows() = default;

  struct Block {
    Index head = 0;              // in [0, B h)
    Index first = 0, count = 1;  // queries [first, first + count)
    Index first_key = 0;         // keys [first_key, first + count)
    Index width() const { return first + count - first_key; }
  };
  // Mean weights over the channels of the head, 0 for keys after the query.  [count, width()]
  // Incomplete if is_stopping().
  virtual std::vector<double> weights(const Block& block) const = 0;
};

// Sets the causal pattern and the requested maps of a result, [B h, L_q, L_k] in host memory, or
// tiles that compute them on demand. The weights are computed on the CPU.
void add_implied_maps(OperationResult& result, std::shared_ptr<const ImpliedRows> rows,
                      const OperationInput& input, const ResultRequest& wanted);

// Number of channels of a head that have weights of their own, of which the map is the mean: set by
// add_implied_maps() as the count "channels", [1]. 0 for all other operations.
Index averaged_channels(const OperationRecord& result);

// Repeats a weight of each head, [h, n], for the items of a batch.  [B h, 1, n]
Var by_item(const Var& head_weight, Index batch);

// The first item of a batch of rows [B h, L, n], as a copy.  [h, L, n]
Tensor first_item(const Var& rows, Index heads);

// Reason why a recurrence cannot run in this situation, "causal: expected true, ..."; empty if it
// can. label: the variant's label.
std::string recurrence_objection(const std::string& label, const Situation& in);

}  // namespace attnscope
