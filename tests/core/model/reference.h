// Reference transformer in double precision for tests of the model and of checkpoint layouts. It
// follows the equations directly.
#pragma once

#include <functional>
#include <vector>

#include "core/model/activation.h"
#include "core/tensor/tensor.h"

namespace attnscope::testing {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  // [L][n]

Rows rows_of(const Tensor& matrix);  // matrix [L, n]; a vector gives one row
Tensor tensor_of(const Rows& rows);

Rows times(const Rows& x, const Tensor& w, const Tensor* bias = nullptr);  // w [in, out]
Rows times_transposed(const Rows& x, const Tensor& w);                     // w [out, in]
Rows sum(const Rows& a, const Rows& b);
Rows rms_norm_rows(const Rows& x, const Tensor& gain, double epsilon);
Rows layer_norm_rows(const Rows& x, const Tensor& gain, const Tensor& bias, double epsilon);
Rows each(const Rows& x, const std::function<double(double)>& function);
Rows product(const Rows& a, const Rows& b);

double silu(double x);
double gelu(double x);
double gelu_tanh(double x);
double activate(Activation type, double x);

// Rotates pair t of each head's components by position * base^(-2 t / d_k). Pair t is (t, t +
// d_k/2) if `half`, otherwise (2t, 2t + 1).
Rows rotated(const Rows& x, Index heads, double base, bool half);

struct ReferenceAttention {
  Rows output;                    // [L][heads * d_k]
  std::vector<Rows> probability;  // [heads][L][L]
};
// q: [L][heads * d_k]; k, v: [L][kv_heads * d_k].
ReferenceAttention reference_attention(const Rows& q, const Rows& k, const Rows& v, Index heads,
                                       Index kv_heads, bool causal);

}  // namespace attnscope::testing
