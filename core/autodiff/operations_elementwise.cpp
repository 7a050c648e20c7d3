#include "core/autodiff/operations_elementwise.h"

#include <cmath>
#include <numbers>

#include "core/autodiff/broadcast.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/tensor/row_kernels.h"
#include "core/tensor/vector_math.h"

namespace attnscope {
namespace {

// to[i] = f(a[i * stride_a], b[i * stride_b]), strides 0 or 1. One loop per case can be vectorised.
template <class F>
void zip_row(const float* a, const float* b, float* to, const BroadcastAxis& axis, Index first,
             Index last, const F& f) {
  if (axis.stride_a != 0 && axis.stride_b != 0) {
    for (Index i = first; i < last; ++i) to[i] = f(a[i], b[i]);
  } else if (axis.stride_a != 0) {
    const float y = *b;
    for (Index i = first; i < last; ++i) to[i] = f(a[i], y);
  } else {
    const float x = *a;
    for (Index i = first; i < last; ++i) to[i] = f(x, b[i]);
  }
}

template <class F>
Tensor zip(const char* name, const Tensor& a, const Tensor& b, const F& f) {
  Tensor result(broadcast_shape(name, a.shape(), b.shape()));
  if (result.empty()) return result;
  const auto axes = broadcast_axes(result.shape(), a.shape(), b.shape());
  const BroadcastAxis inner = axes.back();
  const Index rows = result.size() / inner.size;
  if (rows == 1) {
    parallel_for(inner.size, kGrain, [&](Index first, Index last) {
      zip_row(a.data(), b.data(), result.data(), inner, first, last, f);
    });
    return result;
  }
  float* to = result.data();
  parallel_for(rows, (kGrain + inner.size - 1) / inner.size, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const BroadcastRow offset = broadcast_row(axes, row);
      zip_row(a.data() + offset.a, b.data() + offset.b, to + row * inner.size, inner, 0, inner.size,
              f);
    }
  });
  return result;
}

template <class F>
Tensor map(const Tensor& x, const F& f) {
  Tensor result(x.shape());
  const float* from = x.data();
  float* to = result.data();
  parallel_for(x.size(), kGrain, [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) to[i] = f(from[i]);
  });
  return result;
}

// Adds gradient[i] * derivative(saved[i]) to the input's gradient.
template <class F>
void accumulate_unary(const Var& input, const Tensor& gradient, const Tensor& saved,
                      const F& derivative) {
  const float *g = gradient.data(), *s = saved.data();
  accumulate_with(input, [&](Tensor& sum, bool overwrite) {
    float* to = sum.data();
    parallel_for(sum.size(), kGrain, [=](Index first, Index last) {
      if (overwrite) {
        for (Index i = first; i < last; ++i) to[i] = g[i] * derivative(s[i]);
      } else {
        for (Index i = first; i < last; ++i) to[i] += g[i] * derivative(s[i]);
      }
    });
  });
}

// Records a unary operation whose derivative is a function of its input.
template <class F, class D>
Var record_by_input(const char* name, const Var& x, const F& f, const D& derivative) {
  return record(name, map(x.value(), f), {x},
                [derivative](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate_unary(inputs[0], gradient, inputs[0].value(), derivative);
                });
}

// Records a unary operation whose derivative is a function of its result.
template <class F, class D>
Var record_by_result(const char* name, const Var& x, const F& f, const D& derivative) {
  const Tensor result = map(x.value(), f);
  return record(name, result, {x},
                [derivative, result](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate_unary(inputs[0], gradient, result, derivative);
                });
}

// Argument of the tanh in GPT-2's GELU: sqrt(2 / pi) (x + 0.044715 x^3).
constexpr float kGeluScale = 0.797884560802865f;
constexpr float kGeluCubic = 0.044715f;

}  // namespace

Var add(const Var& a, const Var& b) {
  Tensor result = zip("add", a.value(), b.value(), [](float x, float y) { return x + y; });
  return record("add", std::move(result), {a, b},
                [](const Tensor& gradient, const std::vector<Var>& inputs) {
                  for (const Var& input : inputs) {
                    if (!input.requires_gradient()) continue;
                    accumulate(input, sum_to_shape(gradient, input.shape()));
                  }
                });
}

Var subtract(const Var& a, const Var& b) {
  Tensor result = zip("subtract", a.value(), b.value(), [](float x, float y) { return x - y; });
  return record("subtract", std::move(result), {a, b},
                [](const Tensor& gradient, const std::vector<Var>& inputs) {
                  if (inputs[0].requires_gradient()) {
                    accumulate(inputs[0], sum_to_shape(gradient, inputs[0].shape()));
                  }
                  if (inputs[1].requires_gradient()) {
                    const Tensor sum = sum_to_shape(gradient, inputs[1].shape());
                    accumulate(inputs[1], map(sum, [](float g) { return -g; }));
                  }
                });
}

Var multiply(const Var& a, const Var& b) {
  const auto product = [](float x, float y) { return x * y; };
  return record("multiply", zip("multiply", a.value(), b.value(), product), {a, b},
                [product](const Tensor& gradient, const std::vector<Var>& inputs) {
                  for (std::size_t i = 0; i < 2; ++i) {
                    if (!inputs[i].requires_gradient()) continue;
                    const Tensor& other_operand = inputs[1 - i].value();
                    const Tensor terms = zip("multiply", gradient, other_operand, product);
                    accumulate(inputs[i], sum_to_shape(terms, inputs[i].shape()));
                  }
                });
}

Var divide(const Var& a, const Var& b) {
  const auto quotient = [](float x, float y) { return x / y; };
  const Tensor result = zip("divide", a.value(), b.value(), quotient);
  return record("divide", result, {a, b},
                [quotient, result](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const Tensor scaled = zip("divide", gradient, inputs[1].value(), quotient);
                  if (inputs[0].requires_gradient()) {
                    accumulate(inputs[0], sum_to_shape(scaled, inputs[0].shape()));
                  }
                  if (inputs[1].requires_gradient()) {  // -gradient a / b^2
                    const Tensor terms =
                        zip("divide", scaled, result, [](float x, float y) { return -x * y; });
                    accumulate(inputs[1], sum_to_shape(terms, inputs[1].shape()));
                  }
                });
}

Var scale(const Var& x, float factor) {
  return record_by_input(
      "scale", x, [factor](float v) { return v * factor; }, [factor](float) { return factor; });
}

Var relu(const Var& x) {
  return record_by_input(
      "relu", x, [](float v) { return v < 0 ? 0.0f : v; },
      [](float v) { return v > 0 ? 1.0f : 0.0f; });
}

Var clamp(const Var& x, float min, float max) {
  return record_by_input(
      "clamp", x, [=](float v) { return v < min   ? min
                                        : v > max ? max
                                                  : v; },
      [=](float v) { return v > min && v < max ? 1.0f : 0.0f; });
}

Var gelu(const Var& x) {
  Tensor result(x.shape());
  const float* from = x.value().data();
  float* to = result.data();
  const auto kernel = cpu::row_kernels().gelu;
  parallel_for(x.value().size(), kGrain,
               [=](Index first, Index last) { kernel(to + first, from + first, last - first); });
  return record("gelu", std::move(result), {x},
                [](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const float *g = gradient.data(), *v = inputs[0].value().data();
                  const auto kernel = cpu::row_kernels().gelu_gradient;
                  accumulate_with(inputs[0], [&](Tensor& sum, bool overwrite) {
                    float* to = sum.data();
                    parallel_for(sum.size(), kGrain, [=](Index first, Index last) {
                      kernel(to + first, g + first, v + first, last - first, !overwrite);
                    });
                  });
                });
}

Var gelu_tanh(const Var& x) {
  return record_by_input(
      "gelu_tanh", x,
      [](float v) {
        const float argument = kGeluScale * (v + kGeluCubic * v * v * v);
        return 0.5f * v * (1.0f + vector_math::tanh(argument));
      },
      [](float v) {
        const float t = vector_math::tanh(kGeluScale * (v + kGeluCubic * v * v * v));
        const float inner = kGeluScale * (1.0f + 3.0f * kGeluCubic * v * v);
        return 0.5f * (1.0f + t) + 0.5f * v * (1.0f - t * t) * inner;
      });
}

Var silu(const Var& x) {
  return record_by_input(
      "silu", x, [](float v) { return v * vector_math::sigmoid(v); },
      [](float v) {
        const float s = vector_math::sigmoid(v);
        return s * (1.0f + v * (1.0f - s));
      });
}

Var tanh(const Var& x) {
  return record_by_result(
      "tanh", x, [](float v) { return vector_math::tanh(v); },
      [](float y) { return 1.0f - y * y; });
}

Var sigmoid(const Var& x) {
  return record_by_result(
      "sigmoid", x, [](float v) { return vector_math::sigmoid(v); },
      [](float y) { return y * (1.0f - y); });
}

Var softplus(const Var& x) {
  return record_by_input(
      "softplus", x,
      [](float v) { return (v < 0 ? 0.0f : v) + std::log1p(std::exp(-std::abs(v))); },
      [](float v) { return vector_math::sigmoid(v); });
}

Var elu(const Var& x, float limit) {
  return record_by_input(
      "elu", x, [limit](float v) { return v > 0 ? v : limit * std::expm1(v); },
      [limit](float v) { return v > 0 ? 1.0f : limit * vector_math::exp(v); });
}

Var exp(const Var& x) {
  return record_by_result(
      "exp", x, [](float v) { return vector_math::exp(v); }, [](float y) { return y; });
}

Var sine(const Var& x) {
  return record_by_input(
      "sine", x, [](float v) { return std::sin(v); }, [](float v) { return std::cos(v); });
}

Var cosine(const Var& x) {
  return record_by_input(
      "cosine", x, [](float v) { return std::cos(v); }, [](float v) { return -std::sin(v); });
}

Var log(const Var& x) {
  return record_by_input(
      "log", x, [](float v) { return std::log(v); }, [](float v) { return 1.0f / v; });
}

Var dropout(const Var& x, double rate, std::uint64_t seed) {
  if (!(rate >= 0 && rate < 1)) {
    throw InputError("dropout: rate " + std::to_string(rate) + ": expected 0 <= rate < 1");
  }
  if (rate == 0) return x;
  const float factor = static_cast<float>(1 / (1 - rate));
  // Number of random values, out of 2^24, that set a number to 0.
  const auto zeros = static_cast<std::uint32_t>(rate * 0x1p24);
  const std::uint64_t stream = Random(seed).bits();
  // The backward pass draws the factors again instead of storing them.
  const auto apply = [zeros, stream, factor](const Tensor& from) {
    Tensor result(from.shape());
    const float* in = from.data();
    float* to = result.data();
    parallel_for(from.size(), kGrain, [=](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const std::uint64_t bits = Random::at(stream, static_cast<std::uint64_t>(i));
        to[i] = static_cast<std::uint32_t>(bits >> 40) < zeros ? 0.0f : in[i] * factor;
      }
    });
    return result;
  };
  return record("dropout", apply(x.value()), {x},
                [apply](const Tensor& gradient, const std::vector<Var>& inputs) {
                  accumulate(inputs[0], apply(gradient));
                });
}

}  // namespace attnscope
