// Information flow through several layers: attention rollout and reachability.
#pragma once

#include <vector>

#include "core/part/pattern.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Attention rollout (Abnar and Zuidema, 2020, arXiv:2005.00928): the product of (A_l + I) / 2 over
// layers l, with rows normalised to sum 1. A_l is the layer's attention averaged over heads, I the
// residual connection. layers: a matrix [L, L] per layer, first layer first. has_residual: false
// for models without residual connections, whose layers count as A_l alone. Returns [L, L]. Throws
// InputError if there are no layers, a layer is not square or sizes differ.
Tensor attention_rollout(const std::vector<Tensor>& layers, bool has_residual = true);

// Receptive fields, [L, L]: the number of layers after which query i first reaches key j, -1 if
// never. 0 on the diagonal, because residual connections count. A layer reaches a key if any of its
// heads does. layers: for each layer the patterns of its head groups, L x L each. Throws
// InputError if there are no layers or sizes differ.
IntTensor reachability(const std::vector<std::vector<const Pattern*>>& layers);

}  // namespace attnscope
