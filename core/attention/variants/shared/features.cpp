#include "core/attention/variants/shared/features.h"

#include <algorithm>
#include <cmath>

#include "core/attention/variants/shared/feature_weights.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Limits of row sums. Within the limits, weights and their products with values fit float32.
constexpr float kMinSum = 1e-24f, kMaxSum = 1e30f;
// Maximum number of weights that are computed pair by pair and stored (1 GiB).
constexpr Index kMaxWeights = Index{1} << 28;
// Maximum size of maps with exact features, which are slow. Larger maps may have rounding errors.
constexpr Index kMaxExact = Index{1} << 22;

// Norm of each row of x.
std::vector<double> norms(const Tensor& x) {
  const Index size = x.dim(2);
  std::vector<double> result(static_cast<std::size_t>(x.dim(0) * x.dim(1)));
  for (std::size_t row = 0; row < result.size(); ++row) {
    check_stop();
    const float* from = x.data() + static_cast<Index>(row) * size;
    result[row] = std::sqrt(exact_dot(from, from, size));
  }
  return result;
}

// True if the sum of some row is so small compared with its products that rounding is visible.
bool has_cancellation(const Part& part, const Tensor& sums) {
  constexpr double kMinFraction = 1.0 / 16;
  const std::vector<double> q_norms = norms(part.q.value()), k_norms = norms(part.k.value());
  const Index queries = part.queries(), keys = part.keys();
  for (Index row = 0; row < sums.size(); ++row) {
    check_stop();
    double bound = 0;
    for (const Run& run : part.pattern->row(row / queries % part.heads, row % queries)) {
      for (Index j = run.begin; j < run.end; j += run.step) {
        bound += k_norms[static_cast<std::size_t>(row / queries * keys + j)];
      }
    }
    bound *= q_norms[static_cast<std::size_t>(row)];
    if (!(std::abs(static_cast<double>(sums[row])) >= kMinFraction * bound)) return true;
  }
  return false;
}

Index weight_count(const OperationInput& input) {
  return input.batch * input.heads * query_count(input) * key_count(input);
}

// Part with values and S_i; the caller sets q and k, or logits.
Part feature_part(const OperationInput& input) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.q = part.k = Var();
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.scale = 1;
  part.split.clear();
  return part;
}

}  // namespace

bool is_in_range(const OperationResult& result) {
  const Tensor& sums = result.log_sum_exp;
  const Tensor& output = result.output.value();
  return std::all_of(
             sums.begin(), sums.end(),
             [](float sum) { return std::abs(sum) >= kMinSum && std::abs(sum) <= kMaxSum; }) &&
         std::all_of(output.begin(), output.end(), [](float x) { return std::isfinite(x); });
}

OperationResult run_features(const OperationInput& input, const Features& q, const Features& k,
                             Backend& backend, const ResultRequest& wanted) {
  Part part = feature_part(input);
  part.normaliser = Normaliser::FeatureRatio;
  part.q = q.plain;
  part.k = k.plain;
  ResultRequest wanted_with_sums = wanted;
  wanted_with_sums.log_sum_exp = true;
  OperationResult result = run_part(part, backend, wanted_with_sums);
  const bool has_exponents = q.exponents.defined() || k.exponents.defined();
  const bool wants_weights = wanted.attention || wanted.device_attention;
  const bool is_inexact = q.exact_mantissa && wants_weights && weight_count(input) <= kMaxExact &&
                          has_cancellation(part, result.log_sum_exp);
  if (!is_inexact && (!has_exponents || is_in_range(result))) {
    if (!wanted.log_sum_exp) result.log_sum_exp = Tensor();
  } else {
    result = run_pairwise(input, q, k, backend, wanted);
  }
  if (wants_report(wanted)) add_state(result, input, k);
  return result;
}

void check_pair_count(const OperationInput& input) {
  if (weight_count(input) <= kMaxWeights) return;
  throw InputError("q and k: with features beyond the range of float32, expected at most " +
                   std::to_string(kMaxWeights) + " weights, found " +
                   std::to_string(weight_count(input)));
}

OperationResult run_pairwise(const OperationInput& input, const Features& q, const Features& k,
                             Backend& backend, const ResultRequest& wanted) {
  check_pair_count(input);
  Part part = feature_part(input);
  part.logits = feature_weights(q, k, part.pattern, part.heads);  // [B h, L_q, L_k]
  part.source = Source::Logits;
  part.normaliser = Normaliser::None;
  return run_part(std::move(part), backend, wanted);
}

bool wants_report(const ResultRequest& wanted) {
  return wanted.attention || wanted.device_attention || wanted.scores || wanted.log_sum_exp ||
         wanted.tiles;
}

Tensor exact_attention(const OperationInput& input, const Var& q, const Var& k, double scale,
                       Backend& backend) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.q = q;
  part.k = k;
  part.scale = static_cast<float>(scale);
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.split.clear();
  return run_part(std::move(part), backend, {.attention = true}).attention;
}

Doubles exact_waves(const std::vector<double>& x, const Shape& shape, const Tensor& w, double s) {
  const Index rows = shape[1], size = shape[2], heads = w.dim(0), count = w.dim(1);
  Doubles waves = zero_doubles(shape[0] * rows * 2 * count);
  parallel_for(shape[0] * rows, 1, [&](Index first, Index last) {
    for (Index row = first; row < last && !is_stopping(); ++row) {
      double* to = waves.data() + row * 2 * count;
      for (Index t = 0; t < count; ++t) {
        const float* direction = w.data() + (row / rows % heads * count + t) * size;
        const double angle = s * exact_dot(x.data() + row * size, direction, size);
        to[t] = std::sin(angle);
        to[count + t] = std::cos(angle);
      }
    }
  });
  return waves;
}

Var feature_products(const Var& x, const Var& w, Index heads) {
  const std::vector<Var> copies(static_cast<std::size_t>(x.dim(0) / heads), w);
  return matmul_transposed(x, copies.size() == 1 ? w : concat(copies, 0));
}

double feature_cost(const CostInput& in, Index features, Index multiply_adds) {
  const auto rows = static_cast<double>(in.queries + in.keys);
  const auto sums = static_cast<double>(features * (in.value_size + 1));  // the state and z
  return rows * (sums + static_cast<double>(multiply_adds)) /
         static_cast<double>(in.key_size + in.value_size);
}

Parameter features_parameter(const char* symbol) {
  return {.key = "features",
          .symbol = symbol,
          .label = "Features",
          .help = "Number of random directions drawn.",
          .required = true,
          .initial = Index{64},
          .limits = {.min = 1, .max = 1048576},
          .slider = {.min = 1, .max = 512}};
}

WeightInfo random_directions(const char* name) {
  return {.name = name,
          .help = "Directions of each head; drawn from the seed if missing.",
          .shape = [](const Dimensions& n, const Values& values) -> Shape {
            return {n.heads, values.integer("features"), n.key};
          },
          .file = {.optional = true},
          .training = {.constant = true}};
}

}  // namespace attnscope
