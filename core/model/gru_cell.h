// Gated recurrent unit. Cho et al., 2014, arXiv:1406.1078, with the reset gate after the product,
// as in cuDNN and PyTorch:
//   r, z = sigmoid(x_r + s_r), sigmoid(x_z + s_z),   n = tanh(x_n + r * s_n)
//   s' = (1 - z) * n + z * s
// with [x_r x_z x_n] = x w_ih + b_ih and [s_r s_z s_n] = s w_hh + b_hh.
#pragma once

#include <string>
#include <vector>

#include "core/part/info.h"

namespace attnscope {

class Pass;

class GruCell {
 public:
  // Reads the weights prefix + "w_ih" [d, 3 u], "w_hh" [u, 3 u], "b_ih", "b_hh" [3 u].
  GruCell(const Pass& pass, const std::string& prefix);

  Index size() const { return size_; }              // u
  Var inputs(const Var& x) const;                   // [n, d] -> [n, 3 u]
  Var step(const Var& inputs, const Var& s) const;  // [B, 3 u], [B, u] -> [B, u]

  enum class Order { Forward, Backward };
  // State after each token of x [B, L, d], from the state s [B, u]. Backward: reads the tokens from
  // last to first.  [B, L, u]
  Var states(const Var& x, const Var& s, Order order = Order::Forward) const;

 private:
  Var w_ih_, w_hh_, b_ih_, b_hh_;
  Index size_;
};

// Size of a cell's input or state, in a model with these dimensions and values.
using SizeOf = std::function<Index(const Dimensions&, const Values&)>;
Index model_width(const Dimensions& n, const Values& values);
// Weights of a cell. inputs, states: d and u. used: as WeightInfo::used.
std::vector<WeightInfo> gru_weights(const std::string& prefix, const SizeOf& inputs,
                                    const SizeOf& states,
                                    const std::function<bool(const Values&)>& used = {});

}  // namespace attnscope
