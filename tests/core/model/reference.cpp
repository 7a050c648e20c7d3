#include "tests/core/model/reference.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope::testing {
namespace {

std::size_t unsigned_index(Index i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

Rows rows_of(const Tensor& matrix) {
  const Index width = matrix.dim(-1), count = matrix.size() / width;
  Rows rows(unsigned_index(count), Row(unsigned_index(width)));
  for (Index r = 0; r < count; ++r) {
    for (Index c = 0; c < width; ++c)
      rows[unsigned_index(r)][unsigned_index(c)] = matrix[r * width + c];
  }
  return rows;
}

Tensor tensor_of(const Rows& rows) {
  Tensor t({static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size())});
  Index at = 0;
  for (const Row& row : rows) {
    for (const double x : row) t[at++] = static_cast<float>(x);
  }
  return t;
}

Rows times(const Rows& x, const Tensor& w, const Tensor* bias) {
  const std::size_t in = unsigned_index(w.dim(0)), out = unsigned_index(w.dim(1));
  Rows result;
  for (const Row& row : x) {
    Row y(out, 0.0);
    for (std::size_t o = 0; o < out; ++o) {
      if (bias != nullptr) y[o] = (*bias)[static_cast<Index>(o)];
      for (std::size_t i = 0; i < in; ++i) {
        y[o] += row[i] * static_cast<double>(w[static_cast<Index>(i * out + o)]);
      }
    }
    result.push_back(std::move(y));
  }
  return result;
}

Rows times_transposed(const Rows& x, const Tensor& w) {
  const std::size_t in = unsigned_index(w.dim(1)), out = unsigned_index(w.dim(0));
  Rows result;
  for (const Row& row : x) {
    Row y(out, 0.0);
    for (std::size_t o = 0; o < out; ++o) {
      for (std::size_t i = 0; i < in; ++i) {
        y[o] += row[i] * static_cast<double>(w[static_cast<Index>(o * in + i)]);
      }
    }
    result.push_back(std::move(y));
  }
  return result;
}

Rows sum(const Rows& a, const Rows& b) {
  Rows result = a;
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) result[r][c] += b[r][c];
  }
  return result;
}

Rows product(const Rows& a, const Rows& b) {
  Rows result = a;
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) result[r][c] *= b[r][c];
  }
  return result;
}

Rows rms_norm_rows(const Rows& x, const Tensor& gain, double epsilon) {
  Rows result = x;
  for (Row& row : result) {
    double squares = 0;
    for (const double v : row) squares += v * v;
    const double size = std::sqrt(squares / static_cast<double>(row.size()) + epsilon);
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = row[c] / size * static_cast<double>(gain[static_cast<Index>(c)]);
    }
  }
  return result;
}

Rows layer_norm_rows(const Rows& x, const Tensor& gain, const Tensor& bias, double epsilon) {
  Rows result = x;
  for (Row& row : result) {
    const double n = static_cast<double>(row.size());
    double mean = 0, squares = 0;
    for (const double v : row) mean += v / n;
    for (const double v : row) squares += (v - mean) * (v - mean) / n;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto at = static_cast<Index>(c);
      row[c] = (row[c] - mean) / std::sqrt(squares + epsilon) * static_cast<double>(gain[at]) +
               static_cast<double>(bias[at]);
    }
  }
  return result;
}

Rows each(const Rows& x, const std::function<double(double)>& function) {
  Rows result = x;
  for (Row& row : result) {
    for (double& v : row) v = function(v);
  }
  return result;
}

double silu(double x) {
  return x / (1 + std::exp(-x));
}
double gelu(double x) {
  return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
}
double gelu_tanh(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

double activate(Activation type, double x) {
  const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
  constexpr double kScale = 1.0507009873554805, kLimit = 1.6732632423543772;
  switch (type) {
    case Activation::Relu:
      return std::max(x, 0.0);
    case Activation::Gelu:
      return gelu(x);
    case Activation::GeluTanh:
      return gelu_tanh(x);
    case Activation::Silu:
      return silu(x);
    case Activation::QuickGelu:
      return x * sigmoid(1.702 * x);
    case Activation::SquaredRelu:
      return x > 0 ? x * x : 0;
    case Activation::Elu:
      return x > 0 ? x : std::exp(x) - 1;
    case Activation::Selu:
      return kScale * (x > 0 ? x : kLimit * (std::exp(x) - 1));
    case Activation::Sigmoid:
      return sigmoid(x);
    case Activation::Softplus:
      return std::log(1 + std::exp(x));
    case Activation::Linear:
      return x;
  }
  return NAN;
}

Rows rotated(const Rows& x, Index heads, double base, bool half) {
  Rows result = x;
  for (std::size_t position = 0; position < x.size(); ++position) {
    const std::size_t size = x[position].size() / unsigned_index(heads);
    for (std::size_t head = 0; head < unsigned_index(heads); ++head) {
      for (std::size_t t = 0; t < size / 2; ++t) {
        const std::size_t first = head * size + (half ? t : 2 * t);
        const std::size_t second = first + (half ? size / 2 : 1);
        const double angle =
            static_cast<double>(position) *
            std::pow(base, -2.0 * static_cast<double>(t) / static_cast<double>(size));
        const double a = x[position][first], b = x[position][second];
        result[position][first] = a * std::cos(angle) - b * std::sin(angle);
        result[position][second] = a * std::sin(angle) + b * std::cos(angle);
      }
    }
  }
  return result;
}

ReferenceAttention reference_attention(const Rows& q, const Rows& k, const Rows& v, Index heads,
                                       Index kv_heads, bool causal) {
  const std::size_t length = q.size(), size = q[0].size() / unsigned_index(heads);
  ReferenceAttention result{
      Rows(length, Row(unsigned_index(heads) * size, 0.0)),
      std::vector<Rows>(unsigned_index(heads), Rows(length, Row(length, 0.0)))};
  for (std::size_t head = 0; head < unsigned_index(heads); ++head) {
    const std::size_t kv = head / unsigned_index(heads / kv_heads);
    for (std::size_t i = 0; i < length; ++i) {
      Row& p = result.probability[head][i];
      const std::size_t key_count = causal ? i + 1 : length;
      double maximum = -1e300, total = 0;
      for (std::size_t j = 0; j < key_count; ++j) {
        for (std::size_t c = 0; c < size; ++c) p[j] += q[i][head * size + c] * k[j][kv * size + c];
        p[j] /= std::sqrt(static_cast<double>(size));
        maximum = std::max(maximum, p[j]);
      }
      for (std::size_t j = 0; j < key_count; ++j) total += p[j] = std::exp(p[j] - maximum);
      for (std::size_t j = 0; j < key_count; ++j) {
        p[j] /= total;
        for (std::size_t c = 0; c < size; ++c) {
          result.output[i][head * size + c] += p[j] * v[j][kv * size + c];
        }
      }
    }
  }
  return result;
}

}  // namespace attnscope::testing
