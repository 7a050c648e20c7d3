// Divergences between two attention distributions over the same keys.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

enum class Divergence {
  KullbackLeibler,  // KL(a, b) = sum_j a_j log2(a_j / b_j)
  Reverse,          // KL(b, a)
  JensenShannon,    // (KL(a, m) + KL(b, m)) / 2 with m = (a + b) / 2: at most 1 bit
};

// Allowed pairs of maps a and b: matrices of the shape of the maps, with NaN for excluded pairs.
// If a tensor is undefined, its map's pairs with weight 0 are excluded.
struct AllowedPairs {
  Tensor a{}, b{};
};

// Returns one divergence per row, in bits, after normalising rows to sum 1. a, b: [L_q, L_k].
// KL(a, b) is +infinity if a key has weight in a and is excluded in b. The weight of an allowed
// pair is never 0 but can underflow: it then counts as the smallest positive float, 2^-149, and the
// result is a lower bound. 0 if both rows are all zero, NaN if only one is. Throws InputError
// unless all tensors are matrices of the same shape, and for a negative or NaN weight.
std::vector<double> row_divergences(const Tensor& a, const Tensor& b, Divergence kind,
                                    const AllowedPairs& allowed = {});

// a - b. Throws InputError unless both are matrices of the same shape.
Tensor difference(const Tensor& a, const Tensor& b);

}  // namespace attnscope
