// Separable convolutions in place of the feed-forward of a layer: a depthwise convolution of each
// channel over neighbouring tokens precedes each of the two projections. Kernels of 3 and 5 tokens,
// as in the authors' code of the Universal Transformer (Dehghani et al., 2018, arXiv:1807.03819,
// section 2.1; Chollet, 2016, arXiv:1610.02357).
#pragma once

#include <string>

#include "core/autodiff/var.h"

namespace attnscope {

class WeightList;
struct ModelConfig;

inline constexpr Index kInKernel = 3, kOutKernel = 5;  // tokens

// True if the layers' feed-forwards are separable convolutions.
bool has_separable_convolution(const ModelConfig& config);

// y_t = sum_j kernel_j * x_{t + j - p}, with zeros outside. is_causal: p = k - 1, so that row t
// depends on rows up to t; else p = (k - 1) / 2.  x: [B, L, c], kernel: [k, c]
Var depthwise_convolution(const Var& x, const Var& kernel, bool is_causal);

// Adds the kernels of a feed-forward: prefix + "in_kernel" [3, d], "out_kernel" [5, hidden].
void add_kernels(WeightList& list, const std::string& prefix, Index hidden);

}  // namespace attnscope
