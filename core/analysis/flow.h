// Information flow through several layers: attention rollout and reachability.
#pragma once

#include <vector>

#include "core/part/pattern.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Attention rollout (Abnar and Zuidema, 2020, arXiv:2005.00928): the product over layers of
// (A_l + I) / 2, where A_l is a layer's attention averaged over heads and I the residual
// connection, with rows normalised to sum 1. layers: [L, L] each, first layer first. Returns [L,
// L]. Throws InputError if a layer is not square or sizes differ.
Tensor attention_rollout(const std::vector<Tensor>& layers);

// Receptive field of each position after all layers: the boolean product of the patterns, over all
// heads of a layer and including the residual connection. layers: for each layer the patterns of
// its head groups, L x L each. Returns [L, L]: the number of layers after which query i first
// reaches key j (0 on the diagonal), -1 if never.
IntTensor reachability(const std::vector<std::vector<const Pattern*>>& layers);

}  // namespace attnscope
