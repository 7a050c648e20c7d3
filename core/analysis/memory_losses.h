// Auxiliary losses of the compressive memory by layer and segment (Rae et al., 2019, section 3.2).
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

struct MemoryLoss {
  std::string name;   // "attention_reconstruction" or "auto_encoding"
  double weight = 0;  // in the total loss; that of the first layer with the loss
  // Loss of the rows that are compressed after a segment, a mean square, summed over the head
  // groups of the layer; 0 if nothing is compressed, NaN for layers without this loss.
  Tensor values;  // [layers, segments]

  double mean(Index layer) const;  // over the segments after which rows are compressed; NaN: none
};

// Losses whose weight is not 0, in the order of their names.
std::vector<MemoryLoss> memory_losses(const Trace& trace);

}  // namespace attnscope
