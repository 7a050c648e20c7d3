#include "core/autodiff/operations_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "core/tensor/vector_math.h"

namespace attnscope {
namespace {

// Number of independent partial sums of a row, which fit into vector registers.
constexpr Index kLanes = 32;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

struct Rows {
  Index count, size;  // number of rows, size of the last axis
};
Rows split_rows(const char* operation, const Shape& shape) {
  if (shape.empty()) throw InputError(std::string(operation) + " of a scalar");
  const Index size = shape.back();
  return {size == 0 ? 0 : element_count(shape) / size, size};
}

void parallel_rows(const Rows& rows, const std::function<void(Index, Index)>& body) {
  parallel_for(rows.count, std::max(Index{1}, kGrain / std::max(rows.size, Index{1})), body);
}

// Sum of term(i) for i < n, in kLanes partial sums.
template <class Term>
float lane_sum(Index n, const Term& term) {
  float lanes[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index l = 0; l < kLanes; ++l) lanes[l] += term(i + l);
  }
  float total = 0;
  for (Index l = 0; l < kLanes; ++l) total += lanes[l];
  for (; i < n; ++i) total += term(i);
  return total;
}

float row_maximum(const float* x, Index n) {
  float lanes[kLanes];
  std::fill(lanes, lanes + kLanes, kMinusInfinity);
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index l = 0; l < kLanes; ++l) lanes[l] = x[i + l] > lanes[l] ? x[i + l] : lanes[l];
  }
  float max = kMinusInfinity;
  for (Index l = 0; l < kLanes; ++l) max = std::max(max, lanes[l]);
  for (; i < n; ++i) max = std::max(max, x[i]);
  return max;
}

float log_sum_exp(const float* x, Index n) {
  const float max = row_maximum(x, n);
  if (max == kMinusInfinity) return max;
  return max + std::log(lane_sum(n, [=](Index i) { return vector_math::exp(x[i] - max); }));
}

// Layer and RMS norm: y = (x - mean) * inverse * gain + bias, where mean is 0 for RMS norm.
struct RowStatistics {
  Tensor mean, inverse;  // [rows]; mean is undefined for RMS norm
};

// {mean, inverse} of one row.
std::pair<float, float> row_statistics(const float* x, Index n, float epsilon, bool is_centred) {
  const float d = static_cast<float>(n);
  const float mean = is_centred ? lane_sum(n, [=](Index i) { return x[i]; }) / d : 0.0f;
  const float variance = lane_sum(n, [=](Index i) { return (x[i] - mean) * (x[i] - mean); }) / d;
  return {mean, 1.0f / std::sqrt(variance + epsilon)};
}

// Gradient of x for one row. With n = (x - mean) * inverse and u = gradient * gain:
// inverse * (u - mean(u) - n * mean(u n)), without mean(u) for RMS norm.
void norm_row_backward(const float* x, const float* gradient, const float* gain, float mean,
                       float inverse, bool is_centred, float* to, Index n, bool overwrite) {
  const float d = static_cast<float>(n);
  const float mean_u =
      is_centred ? lane_sum(n, [=](Index i) { return gradient[i] * gain[i]; }) / d : 0.0f;
  const float mean_un =
      lane_sum(n, [=](Index i) { return gradient[i] * gain[i] * (x[i] - mean) * inverse; }) / d;
  const auto value = [=](Index i) {
    return inverse * (gradient[i] * gain[i] - mean_u - (x[i] - mean) * inverse * mean_un);
  };
  if (overwrite) {
    for (Index i = 0; i < n; ++i) to[i] = value(i);
  } else {
    for (Index i = 0; i < n; ++i) to[i] += value(i);
  }
}

// Adds to the gradient of `input` the column sums of gradient * n (see above) or, if !x, of
// gradient.
void accumulate_columns(const Var& input, const Tensor& gradient, const Rows& rows, const Tensor* x,
                        const RowStatistics& s) {
  constexpr Index kColumns = 64;
  accumulate_with(input, [&](Tensor& sum, bool overwrite) {
    if (overwrite) std::fill(sum.begin(), sum.end(), 0.0f);
    float* to = sum.data();
    parallel_for(rows.size, kColumns, [&, to](Index first, Index last) {
      for (Index row = 0; row < rows.count; ++row) {
        const float* g = gradient.data() + row * rows.size;
        if (x == nullptr) {
          for (Index i = first; i < last; ++i) to[i] += g[i];
          continue;
        }
        const float mean = s.mean.defined() ? s.mean[row] : 0.0f, inverse = s.inverse[row];
        const float* x_row = x->data() + row * rows.size;
        for (Index i = first; i < last; ++i) to[i] += g[i] * (x_row[i] - mean) * inverse;
      }
    });
  });
}

Var record_norm(const char* name, const Var& x, const Var& gain, const Var& bias, double epsilon,
                bool is_centred) {
  const Rows rows = split_rows(name, x.shape());
  if (gain.shape() != Shape{rows.size} || (bias.defined() && bias.shape() != Shape{rows.size})) {
    throw InputError(std::string(name) + " of " + to_string(x.shape()) +
                     ": gain and bias need the shape " + to_string(Shape{rows.size}));
  }
  RowStatistics s{is_centred ? Tensor({rows.count}) : Tensor(), Tensor({rows.count})};
  Tensor result(x.shape());
  const float *from = x.value().data(), *weight = gain.value().data();
  const float* shift = bias.defined() ? bias.value().data() : nullptr;
  float *to = result.data(), *means = s.mean.data(), *inverses = s.inverse.data();
  parallel_rows(rows, [=](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float* in = from + row * rows.size;
      float* out = to + row * rows.size;
      const auto [mean, inverse] =
          row_statistics(in, rows.size, static_cast<float>(epsilon), is_centred);
      if (is_centred) means[row] = mean;
      inverses[row] = inverse;
      for (Index i = 0; i < rows.size; ++i) out[i] = (in[i] - mean) * inverse * weight[i];
      if (shift == nullptr) continue;
      for (Index i = 0; i < rows.size; ++i) out[i] += shift[i];
    }
  });
  std::vector<Var> inputs{x, gain};
  if (bias.defined()) inputs.push_back(bias);
  return record(name, std::move(result), std::move(inputs),
                [s, rows, is_centred](const Tensor& gradient, const std::vector<Var>& in) {
                  const Tensor &value = in[0].value(), &weights = in[1].value();
                  accumulate_with(in[0], [&](Tensor& sum, bool overwrite) {
                    parallel_rows(rows, [&](Index first, Index last) {
                      for (Index row = first; row < last; ++row) {
                        const Index offset = row * rows.size;
                        norm_row_backward(value.data() + offset, gradient.data() + offset,
                                          weights.data(), is_centred ? s.mean[row] : 0.0f,
                                          s.inverse[row], is_centred, sum.data() + offset,
                                          rows.size, overwrite);
                      }
                    });
                  });
                  accumulate_columns(in[1], gradient, rows, &value, s);
                  if (in.size() == 3) accumulate_columns(in[2], gradient, rows, nullptr, s);
                });
}

double double_sum(const Tensor& x) {
  double total = 0;
  for (const float value : x) total += static_cast<double>(value);
  return total;
}

// Implements sum and mean: the sum of all numbers times `factor`.
Var scaled_sum(const char* name, const Var& x, double factor) {
  const double total = double_sum(x.value()) * factor;
  return record(name, Tensor::full({}, static_cast<float>(total)), {x},
                [factor](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const float g = gradient[0] * static_cast<float>(factor);
                  accumulate(inputs[0], Tensor::full(inputs[0].shape(), g));
                });
}

}  // namespace

Var sum(const Var& x) {
  return scaled_sum("sum", x, 1);
}

Var mean(const Var& x) {
  if (x.value().empty()) throw InputError("mean of an empty array, shape " + to_string(x.shape()));
  return scaled_sum("mean", x, 1.0 / static_cast<double>(x.value().size()));
}

Var sum_axis(const Var& x, Index axis) {
  const Index rank = x.rank();
  if (axis < -rank || axis >= rank) {
    throw InputError("sum_axis: no axis " + std::to_string(axis) + " in shape " +
                     to_string(x.shape()));
  }
  const std::size_t dim = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  Shape shape = x.shape();
  const Index n = shape[dim];
  shape.erase(shape.begin() + static_cast<Index>(dim));
  const Index inner = element_count(Shape(shape.begin() + static_cast<Index>(dim), shape.end()));
  const Index outer = element_count(Shape(shape.begin(), shape.begin() + static_cast<Index>(dim)));
  Tensor result = Tensor::zeros(shape);
  const float* from = x.value().data();
  float* to = result.data();
  for (Index o = 0; o < outer; ++o) {
    check_stop();
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < inner; ++i) to[o * inner + i] += from[(o * n + j) * inner + i];
    }
  }
  return record("sum_axis", std::move(result), {x},
                [=](const Tensor& gradient, const std::vector<Var>& inputs) {
                  Tensor dx(inputs[0].shape());
                  for (Index o = 0; o < outer; ++o) {
                    const float* g = gradient.data() + o * inner;
                    for (Index j = 0; j < n; ++j) {
                      std::copy(g, g + inner, dx.data() + (o * n + j) * inner);
                    }
                  }
                  accumulate(inputs[0], dx);
                });
}

Var softmax(const Var& x) {
  const Rows rows = split_rows("softmax", x.shape());
  Tensor result(x.shape());
  const float* from = x.value().data();
  float* to = result.data();
  parallel_rows(rows, [=](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float* in = from + row * rows.size;
      float* out = to + row * rows.size;
      const float max = row_maximum(in, rows.size);
      if (max == kMinusInfinity) {
        std::fill(out, out + rows.size, 0.0f);
        continue;
      }
      for (Index i = 0; i < rows.size; ++i) out[i] = vector_math::exp(in[i] - max);
      const float inverse = 1.0f / lane_sum(rows.size, [=](Index i) { return out[i]; });
      for (Index i = 0; i < rows.size; ++i) out[i] *= inverse;
    }
  });
  return record("softmax", result, {x},
                [result, rows](const Tensor& gradient, const std::vector<Var>& inputs) {
                  Tensor dx(result.shape());  // y (g - sum(g y))
                  float* out = dx.data();
                  parallel_rows(rows, [&, out](Index first, Index last) {
                    for (Index row = first; row < last; ++row) {
                      const float* y = result.data() + row * rows.size;
                      const float* g = gradient.data() + row * rows.size;
                      const float dot = lane_sum(rows.size, [=](Index i) { return g[i] * y[i]; });
                      float* dx_row = out + row * rows.size;
                      for (Index i = 0; i < rows.size; ++i) dx_row[i] = y[i] * (g[i] - dot);
                    }
                  });
                  accumulate(inputs[0], dx);
                });
}

Var log_softmax(const Var& x) {
  const Rows rows = split_rows("log_softmax", x.shape());
  Tensor result(x.shape());
  const float* from = x.value().data();
  float* to = result.data();
  parallel_rows(rows, [=](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float* in = from + row * rows.size;
      float* out = to + row * rows.size;
      // Subtracting the maximum first preserves small differences of large numbers.
      const float max = row_maximum(in, rows.size);
      const float log_sum =
          std::log(lane_sum(rows.size, [=](Index i) { return vector_math::exp(in[i] - max); }));
      for (Index i = 0; i < rows.size; ++i) out[i] = in[i] - max - log_sum;
    }
  });
  return record("log_softmax", result, {x},
                [result, rows](const Tensor& gradient, const std::vector<Var>& inputs) {
                  Tensor dx(result.shape());  // g - softmax(x) sum(g)
                  float* out = dx.data();
                  parallel_rows(rows, [&, out](Index first, Index last) {
                    for (Index row = first; row < last; ++row) {
                      const float* y = result.data() + row * rows.size;
                      const float* g = gradient.data() + row * rows.size;
                      const float total = lane_sum(rows.size, [=](Index i) { return g[i]; });
                      float* dx_row = out + row * rows.size;
                      for (Index i = 0; i < rows.size; ++i) {
                        dx_row[i] = g[i] - vector_math::exp(y[i]) * total;
                      }
                    }
                  });
                  accumulate(inputs[0], dx);
                });
}

Var cross_entropy(const Var& logits, const IntTensor& targets) {
  const Rows rows = split_rows("cross_entropy", logits.shape());
  if (Shape(logits.shape().begin(), logits.shape().end() - 1) != targets.shape()) {
    throw InputError("cross_entropy of " + to_string(logits.shape()) + " and targets " +
                     to_string(targets.shape()) + ": incompatible shapes");
  }
  Index target_count = 0;
  for (const std::int32_t target : targets) {
    if (target < -1 || target >= rows.size) {
      throw InputError("cross_entropy: target " + std::to_string(target) + ": expected 0 to " +
                       std::to_string(rows.size - 1) + ", or -1");
    }
    target_count += target >= 0;
  }
  Tensor sums({rows.count});  // log-sum-exp per row
  Tensor losses({rows.count});
  const float* from = logits.value().data();
  parallel_rows(rows, [&, from](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float* logit_row = from + row * rows.size;
      sums.data()[row] = log_sum_exp(logit_row, rows.size);
      losses.data()[row] = targets[row] < 0 ? 0.0f : sums.data()[row] - logit_row[targets[row]];
    }
  });
  const double row_weight = target_count == 0 ? 0 : 1 / static_cast<double>(target_count);
  Tensor loss = Tensor::full({}, static_cast<float>(double_sum(losses) * row_weight));
  return record("cross_entropy", std::move(loss), {logits},
                [=](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const float g = gradient[0] * static_cast<float>(row_weight);
                  const float* x = inputs[0].value().data();
                  Tensor dx(inputs[0].shape());  // (softmax(x) - one-hot(target)) g
                  float* to = dx.data();
                  parallel_rows(rows, [&, x, to](Index first, Index last) {
                    for (Index row = first; row < last; ++row) {
                      const float* in = x + row * rows.size;
                      float* out = to + row * rows.size;
                      if (targets[row] < 0) {
                        std::fill(out, out + rows.size, 0.0f);
                        continue;
                      }
                      const float lse = sums[row];
                      for (Index i = 0; i < rows.size; ++i)
                        out[i] = g * vector_math::exp(in[i] - lse);
                      out[targets[row]] -= g;
                    }
                  });
                  accumulate(inputs[0], dx);
                });
}

Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon) {
  return record_norm("layer_norm", x, gain, bias, epsilon, true);
}

Var unit_rows(const Var& x) {
  const Rows rows = split_rows("unit_rows", x.shape());
  Tensor result(x.shape());
  std::vector<double> inverse(static_cast<std::size_t>(rows.count));  // 1 / length, or 0
  const float* from = x.value().data();
  float* to = result.data();
  parallel_rows(rows, [&, from, to](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      const float* in = from + row * rows.size;
      double square = 0;
      for (Index i = 0; i < rows.size; ++i) square += static_cast<double>(in[i]) * in[i];
      const double factor = square > 0 ? 1 / std::sqrt(square) : 0;
      inverse[static_cast<std::size_t>(row)] = factor;
      for (Index i = 0; i < rows.size; ++i) {
        to[row * rows.size + i] = static_cast<float>(in[i] * factor);
      }
    }
  });
  return record("unit_rows", result, {x},
                [result, rows, inverse = std::move(inverse)](const Tensor& gradient,
                                                             const std::vector<Var>& inputs) {
                  Tensor dx(result.shape());  // (g - y (g . y)) / |x|
                  float* out = dx.data();
                  parallel_rows(rows, [&, out](Index first, Index last) {
                    for (Index row = first; row < last; ++row) {
                      const float* y = result.data() + row * rows.size;
                      const float* g = gradient.data() + row * rows.size;
                      const float dot = lane_sum(rows.size, [=](Index i) { return g[i] * y[i]; });
                      const auto factor =
                          static_cast<float>(inverse[static_cast<std::size_t>(row)]);
                      for (Index i = 0; i < rows.size; ++i) {
                        out[row * rows.size + i] = (g[i] - y[i] * dot) * factor;
                      }
                    }
                  });
                  accumulate(inputs[0], dx);
                });
}

Var rms_norm(const Var& x, const Var& gain, double epsilon) {
  return record_norm("rms_norm", x, gain, Var(), epsilon, false);
}

}  // namespace attnscope
