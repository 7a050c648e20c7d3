// Vectors within the layers of a run: residual stream, norms and feed-forward of one layer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/activation.h"
#include "core/tensor/tensor.h"
#include "core/trace/address.h"

namespace attnscope {

// Sizes of the state and of a block's output, as Euclidean norms by token of the stack.
struct StreamPoint {
  Index step = 0, layer = -1;  // layer -1: the state before the first layer
  std::string block{};         // "attention", "cross-attention", "feed-forward"; empty before them
  Tensor state{};              // [L] state after the block; NaN: in parallel with the next block
  Tensor added{};              // [L] output of the block; undefined without a block
};

// A norm of the layer: y = (x - μ) / √(σ² + ε) γ + β (layer norm), y = x / √(mean x² + ε) γ (RMS).
struct NormStudy {
  std::string name;  // "before attention", "after the feed-forward"
  bool is_rms = false;
  double epsilon = 0;
  Tensor input{}, output{};  // [L, d]
  Tensor gain{}, bias{};     // [d] γ and β; bias undefined if there is none
};

// Units of the layer's feed-forward.
struct HiddenStudy {
  Activation activation = Activation::Relu;
  bool is_gated = false;
  Tensor gate;    // [L, hidden] input of the activation; undefined if the model is not gated
  Tensor value;   // [L, hidden] second factor if the model is gated, else input of the activation
  Tensor output;  // [L, hidden] activation(value), or activation(gate) times value
};

struct BlockStudy {
  std::string problem{};  // reason for missing numbers; empty on success
  Stack stack = Stack::Decoder;
  Index step = 0, layer = 0;
  std::vector<StreamPoint> stream;  // in the order of computation
  std::vector<NormStudy> norms;     // of the layer, in the order of computation
  std::optional<HiddenStudy> hidden;
  std::string hidden_problem{};  // reason for a missing `hidden`
};

}  // namespace attnscope
