#include "core/attention/variants/features.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {

namespace {

constexpr Index kChunk = 128;  // rows that share one update of the running sums

// The last column holds what the others are divided by; a row without any weight stays zero.
Var divided(const Var& sums) {
  const Index size = sums.dim(2) - 1;
  const Var weight = slice(sums, 2, size, 1);  // [B h, L, 1]
  Tensor empty(weight.shape());
  for (Index i = 0; i < empty.size(); ++i) empty[i] = weight.value()[i] == 0 ? 1.0f : 0.0f;
  return divide(slice(sums, 2, 0, size), add(weight, empty));
}

// 1 where column <= row.
Tensor lower_triangle(Index size) {
  Tensor triangle({size, size});
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) triangle(i, j) = j <= i ? 1.0f : 0.0f;
  }
  return triangle;
}

// v with a column of ones behind it: sums of weights come with sums of values.
Var with_ones(const Var& v) {
  return concat({v, Tensor::full({v.dim(0), v.dim(1), 1}, 1.0f)}, 2);
}

Var running_output(const Var& q, const Var& k, const Var& v, const Stop& stop) {
  const Var values = with_ones(v);  // [B h, L, d_v + 1]
  Var state = Tensor::zeros({q.dim(0), q.dim(2), values.dim(2)});
  std::vector<Var> outputs;
  for (Index first = 0; first < q.dim(1); first += kChunk) {
    stop.check();
    const Index count = std::min(kChunk, q.dim(1) - first);
    const Var q_rows = slice(q, 1, first, count), k_rows = slice(k, 1, first, count);
    const Var v_rows = slice(values, 1, first, count);
    const Var within = multiply(matmul_transposed(q_rows, k_rows), lower_triangle(count));
    outputs.push_back(divided(add(matmul(q_rows, state), matmul(within, v_rows))));
    state = add(state, matmul(transpose(k_rows), v_rows));  // [B h, D, d_v + 1]
  }
  return outputs.size() == 1 ? outputs[0] : concat(outputs, 1);
}

}  // namespace

OperationResult run_features(const OperationInput& input, const Var& q_features,
                             const Var& k_features, Backend& backend, const Wanted& wanted,
                             const Stop& stop) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.normaliser = Normaliser::FeatureRatio;
  part.q = q_features;
  part.k = k_features;
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.scale = 1;
  part.split.clear();
  const bool square = part.queries() == part.keys() && input.positions.empty();
  const bool pairs_wanted = wanted.attention || wanted.device_attention || wanted.log_sum_exp;
  if (pairs_wanted || (input.causal && !square)) {
    return run_part(std::move(part), backend, wanted, stop);
  }
  OperationResult result;
  result.pattern = part.pattern;
  if (input.causal) {
    result.output = running_output(part.q, part.k, part.v, stop);  // [B h, L, d_v]
  } else {
    const Var sums = matmul(transpose(part.k), with_ones(part.v));  // [B h, D, d_v + 1]
    result.output = divided(matmul(part.q, sums));                  // [B h, L_q, d_v]
  }
  result.part = std::make_shared<const Part>(std::move(part));
  return result;
}

Tensor exact_attention(const OperationInput& input, const Var& q, const Var& k, double scale,
                       Backend& backend, const Stop& stop) {
  Part part = plain_part(input, plain_pattern(input, input.causal));
  part.q = q;
  part.k = k;
  part.scale = static_cast<float>(scale);
  part.v = repeat_heads(input.v, input.heads, input.kv_heads);
  part.split.clear();
  return run_part(std::move(part), backend, {.attention = true}, stop).attention;
}

Var feature_products(const Var& x, const Var& w, Index heads) {
  const std::vector<Var> copies(static_cast<std::size_t>(x.dim(0) / heads), w);
  return matmul_transposed(x, copies.size() == 1 ? w : concat(copies, 0));
}

}  // namespace attnscope
