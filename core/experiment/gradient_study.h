// Gradients of one output with respect to the states before every layer, at every position.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"
#include "core/trace/address.h"

namespace attnscope {

// States of one layer's input. Sizes of gradients are Euclidean norms over the components.
struct GradientRow {
  Stack stack = Stack::Decoder;
  Index step = 0, layer = 0;  // as in ProbePoint::LayerInput
  Tensor full;                // [L] size of ∂y/∂x
  // [L] the same if the outputs of all attention blocks are constants: gradients pass only through
  // residual connections, feed-forwards and recurrent cells.
  Tensor without_attention;
};

struct GradientStudy {
  std::string problem{};  // reason for missing numbers; empty on success
  Index position = 0;     // row of the output y
  std::int32_t id = -1;   // y is the logit of this token, the most likely one
  double logit = 0;
  bool has_attention = true;      // false: both gradients are equal
  std::vector<GradientRow> rows;  // encoder before decoder, in the order of computation
};

}  // namespace attnscope
