// Elementwise operations.
//
// add, subtract, multiply and divide broadcast their operands as in NumPy: shapes are aligned at
// their last axis, and an axis of size 1 (or a missing one) is repeated. InputError for
// incompatible shapes.
#pragma once

#include <cstdint>

#include "core/autodiff/var.h"

namespace attnscope {

Var add(const Var& a, const Var& b);
Var subtract(const Var& a, const Var& b);
Var multiply(const Var& a, const Var& b);
Var divide(const Var& a, const Var& b);
Var scale(const Var& x, float factor);

Var relu(const Var& x);                         // max(x, 0)
Var clamp(const Var& x, float min, float max);  // zero gradient at and outside the limits
Var gelu(const Var& x);       // x (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel, 2016)
Var gelu_tanh(const Var& x);  // x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, as in GPT-2
Var silu(const Var& x);       // x sigmoid(x)
Var tanh(const Var& x);
Var sigmoid(const Var& x);   // 1 / (1 + exp(-x))
Var softplus(const Var& x);  // log(1 + exp(x))
// x if x > 0, else limit (exp(x) - 1) (Clevert et al., 2016).
Var elu(const Var& x, float limit = 1);
Var exp(const Var& x);
Var log(const Var& x);
Var sine(const Var& x);
Var cosine(const Var& x);

// Sets each number to 0 with probability `rate` in [0, 1), else divides it by 1 - rate. The choice
// depends only on the seed and the number's position. Rate 0 returns x itself.
Var dropout(const Var& x, double rate, std::uint64_t seed);

}  // namespace attnscope
