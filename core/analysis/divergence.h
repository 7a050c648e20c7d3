// How far two distributions over the same keys are apart.
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

// In bits, one number a row; rows are scaled to sum 1 first. +infinity where a key has weight in
// the first and none in the second (weights below 1e-12 of their row count as none: they may be
// what is left of an underflow); 0 where both rows have no weights, NaN where one has none.
// a, b: [L_q, L_k] of non-negative numbers; InputError when shapes differ or one is negative.
std::vector<double> row_divergences(const Tensor& a, const Tensor& b, Divergence kind);

// a - b; InputError when shapes differ.
Tensor difference(const Tensor& a, const Tensor& b);

}  // namespace attnscope
