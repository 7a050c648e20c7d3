// performer: softmax attention estimated by random features. Choromanski et al., 2020.
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/drawn.h"
#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/features.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Orthogonalises each block of `size` rows. Scales row n to the length of row n of `length_rows`.
void orthogonalise(float* rows, Index count, Index size, const Tensor& length_rows) {
  using Matrix = Eigen::MatrixXd;
  for (Index first = 0; first < count; first += size) {
    check_stop();
    const Index block_size = std::min(size, count - first);
    Matrix block(size, block_size), lengths(size, block_size);  // transposed rows
    for (Index r = 0; r < block_size; ++r) {
      for (Index i = 0; i < size; ++i) {
        block(i, r) = rows[(first + r) * size + i];
        lengths(i, r) = length_rows[(first + r) * size + i];
      }
    }
    const Eigen::HouseholderQR<Matrix> qr(block);
    const Matrix q = qr.householderQ() * Matrix::Identity(size, block_size);
    for (Index r = 0; r < block_size; ++r) {
      // The sign of a reflection is arbitrary: use the sign of the drawn row.
      const double sign = qr.matrixQR()(r, r) < 0 ? -1 : 1;
      const double length = sign * lengths.col(r).norm();
      for (Index i = 0; i < size; ++i) {
        rows[(first + r) * size + i] = static_cast<float>(q(i, r) * length);
      }
    }
  }
}

Var performer_matrix(const OperationInput& input) {
  if (const Var* stored = find_weight(input.weights, "performer.w")) return *stored;
  const Values& values = input.variant.values;
  const Index features = values.integer("features"), size = input.q.dim(2);
  const auto seed = static_cast<std::uint64_t>(values.integer("seed"));
  Tensor w = drawn_for_heads(input, "performer.w", {input.heads, features, size}, 0, 1, 2 * seed);
  if (!values.flag("orthogonal")) return w;
  for (Index a = 0; a < input.heads; ++a) {
    const auto head = static_cast<std::uint64_t>(input.first_head + a);
    const Tensor lengths =
        drawn_normal("performer.w", {features, size}, 1, (2 * seed + 1) + head * 7919);
    orthogonalise(w.data() + a * features * size, features, size, lengths);
  }
  return w;
}

// Factors that cancel in the ratio are chosen such that the largest feature products are near
// exp(2 kLift), which leaves room in float32 for larger sums and for small products.
constexpr float kLift = 30;

// Largest exponent of each row, or of all rows of each head, minus kLift.
Tensor exponent_offsets(const Tensor& x, bool by_row) {
  Tensor result({x.dim(0), by_row ? x.dim(1) : 1, 1});
  const Index size = x.size() / result.size();
  constexpr Index kChunk = Index{1} << 20;
  for (Index n = 0; n < result.size(); ++n) {
    float largest = x[n * size];
    for (Index first = 0; first < size; first += kChunk) {
      check_stop();
      const float* const from = x.data() + n * size + first;
      largest = std::max(largest, *std::max_element(from, from + std::min(kChunk, size - first)));
    }
    result[n] = largest - kLift;
  }
  return result;
}

// Largest exponent to use in float32: rounding of larger exponents is visible in the weights.
constexpr float kMaxRoundedExponent = 16;

// s w·x - s² |x|² / 2 for every row of x and w, or s² |x|² / 2 if w is undefined.
Doubles exact_exponents(const Tensor& x, const Tensor& w, Index heads, double s) {
  const Index rows = x.dim(1), size = x.dim(2);
  const Index features = w.defined() ? w.dim(1) : 1;
  Doubles exponents = zero_doubles(x.dim(0) * rows * features);
  parallel_for(x.dim(0) * rows, 1, [&](Index first, Index last) {
    for (Index row = first; row < last && !is_stopping(); ++row) {
      const float* from = x.data() + row * size;
      const double half_square = exact_dot(from, from, size) * s * s / 2;
      for (Index t = 0; t < features; ++t) {
        const float* direction =
            w.defined() ? w.data() + (row / rows % heads * features + t) * size : nullptr;
        exponents[static_cast<std::size_t>(row * features + t)] =
            direction ? exact_dot(from, direction, size) * s - half_square : half_square;
      }
    }
  });
  return exponents;
}

// Queries or keys from which features are computed.
struct FeatureInput {
  const Var& x;  // [B h, L, d_k]
  const Var& w;  // [h, m, d_k]
  Index heads;
  bool is_query;

  double input_scale() const { return std::pow(static_cast<double>(x.dim(2)), -0.25); }
  Var scaled_input() const { return scale(x, static_cast<float>(input_scale())); }
};

// |x|^2 / 2.  [B h, L, 1]
Var half_square(const Var& x) {
  return reshape(scale(sum_axis(multiply(x, x), 2), 0.5f), {x.dim(0), x.dim(1), 1});
}

bool has_visible_rounding(const Tensor& half_squares) {
  return !std::all_of(half_squares.begin(), half_squares.end(),
                      [](float x) { return x <= kMaxRoundedExponent; });
}

// exp(exponents), divided by a factor that cancels in the ratio, one per query or per head of keys.
Var plain_exponentials(const Features& features, bool is_query) {
  const Var& exponents = features.exponents;
  Var shifted = subtract(exponents, exponent_offsets(exponents.value(), is_query));
  if (!features.exact_exponents.empty()) {
    Tensor errors(exponents.shape());
    std::transform(features.exact_exponents.begin(), features.exact_exponents.end(),
                   exponents.value().begin(), errors.begin(), [](double exact, float rounded) {
                     return static_cast<float>(exact - static_cast<double>(rounded));
                   });
    shifted = add(shifted, errors);
  }
  return exp(shifted);
}

Features positive_features(const FeatureInput& input) {
  const Var x = input.scaled_input(), half_squares = half_square(x);
  Features features;
  features.exponents = subtract(feature_products(x, input.w, input.heads), half_squares);
  if (has_visible_rounding(half_squares.value())) {
    features.exact_exponents =
        exact_exponents(input.x.value(), input.w.value(), input.heads, input.input_scale());
  }
  features.plain = plain_exponentials(features, input.is_query);  // [B h, L, m]
  return features;
}

// Sines and cosines of all directions. [B h, L, 2 m]
Features trigonometric_features(const FeatureInput& input) {
  const Var x = input.scaled_input();
  const Var angles = feature_products(x, input.w, input.heads);  // [B h, L, m]
  Features features;
  features.mantissa = concat({sine(angles), cosine(angles)}, 2);
  features.plain = features.mantissa;
  features.exact_mantissa = [x = input.x.value(), w = input.w.value(), s = input.input_scale()] {
    return exact_waves({x.begin(), x.end()}, x.shape(), w, s);
  };
  if (input.is_query) return features;  // exp(|q|^2 / 2) cancels
  features.exponents = half_square(x);
  features.exact_exponents = exact_exponents(input.x.value(), {}, input.heads, input.input_scale());
  features.plain = multiply(features.mantissa, plain_exponentials(features, false));
  return features;
}

OperationResult evaluate_performer(const OperationInput& original, Backend& backend,
                                   const ResultRequest& wanted) {
  const OperationInput input = rotate_input(original);
  const Var k = repeat_heads(input.k, input.heads, input.kv_heads);
  const Var w = performer_matrix(input);
  const bool is_positive = input.variant.values.choice("kind") == "positive";
  const auto features = [&](const Var& x, bool is_query) {
    const FeatureInput rows{x, w, input.heads, is_query};
    Features side_features = is_positive ? positive_features(rows) : trigonometric_features(rows);
    side_features.factor = 1 / std::sqrt(static_cast<double>(w.dim(1)));
    return side_features;
  };
  const Features q_features = features(input.q, true), k_features = features(k, false);
  OperationResult result = run_features(input, q_features, k_features, backend, wanted);
  if (wants_report(wanted)) add_features(result, q_features, k_features, input.heads);
  if (wanted.attention) {
    const auto size = static_cast<double>(input.q.dim(2));
    result.extra["exact"] = exact_attention(input, input.q, k, 1 / std::sqrt(size), backend);
  }
  return result;
}

double performer_numbers(const MemoryInput& in) {
  const auto rows = static_cast<double>(in.heads * in.batch * (in.queries + in.keys));
  const auto features = static_cast<double>(in.values.integer("features"));
  // Inputs, exponents and features of queries and keys; exponents in double precision, too.
  const double numbers_per_row = in.values.choice("kind") == "positive" ? 5 : 9;
  const double directions =
      3 * static_cast<double>(in.heads * in.key_size) * features;  // drawn and orthogonalised
  return features * numbers_per_row * rows + directions +
         (in.maps ? static_cast<double>(in.heads * in.queries) * static_cast<double>(in.keys) : 0);
}

}  // namespace

Variant performer_variant() {
  Variant v;
  v.id = "performer";
  v.label = "Performer";
  v.group = "Low rank and kernels";
  v.equation = "aᵢⱼ ≈ softmax(qᵢ·kⱼ/√d_k),   φ(x) = exp(W x − |x|²/2)/√m,   x = q·d_k^(−1/4)";
  v.summary =
      "Random projections estimate the softmax kernel by features that are always positive; sines "
      "and cosines may give negative weights, with large errors where weights are small. "
      "Orthogonal directions reduce the variance. The view Mechanism compares the estimate with "
      "the exact softmax.";
  v.source = "Choromanski et al., 2020, Rethinking attention with Performers, arXiv:2009.14794";
  v.complexity = "O(L·m·d)";
  v.cost.growth = {.power = 1};
  v.causality.incremental = always;
  v.inputs.cross = true;
  v.encodings.accepts_rotary = true;
  v.cost.head = [](const CostInput& in) {
    const Index directions = in.values.integer("features");
    const Index features = in.values.choice("kind") == "positive" ? directions : 2 * directions;
    return feature_cost(in, features, directions * in.key_size);
  };
  v.encodings.accepts_pairs = v.scores.has_terms = v.scores.has_softmax = never;
  v.encodings.pairs_refusal = "estimates its weights without forming scores of pairs";
  v.parameters = {features_parameter("m"),
                  {.key = "kind",
                   .symbol = "",
                   .label = "Kind",
                   .help = "Positive exponentials, or sines and cosines.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("positive"),
                   .choices = {"positive", "trig"}},
                  {.key = "orthogonal",
                   .symbol = "",
                   .label = "Orthogonal",
                   .help = "Orthogonalise the drawn directions.",
                   .kind = Parameter::Kind::Flag,
                   .initial = true},
                  seed_parameter()};
  v.weights = {random_directions("performer.w")};
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * performer_numbers(in); };
  v.evaluate = evaluate_performer;
  return v;
}

}  // namespace attnscope
