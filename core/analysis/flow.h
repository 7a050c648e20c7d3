// How information can flow through several layers.
#pragma once

#include <vector>

#include "core/part/pattern.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Attention rollout (Abnar and Zuidema, 2020, arXiv:2005.00928): with A_l a layer's attention, mean
// over its heads, and the residual connection, the product over layers of (A_l + I) / 2, rows
// scaled to sum one. layers: [L, L] each, the first layer first. Returns [L, L]; InputError when
// a layer is not square or sizes differ.
Tensor attention_rollout(const std::vector<Tensor>& layers);

// From which inputs each position can hear after all layers: the boolean product of the patterns,
// any head of a layer counting, the residual connection included. layers: for each layer the
// patterns of its head groups, L x L each. Returns [L, L], the number of layers after which query i
// first hears key j (0 on the diagonal), -1 when never.
IntTensor reachability(const std::vector<std::vector<const Pattern*>>& layers);

}  // namespace attnscope
