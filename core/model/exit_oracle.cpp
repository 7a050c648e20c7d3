#include "core/model/exit_oracle.h"

#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/pass.h"

namespace attnscope {
namespace {

// Score of a row or, with smoothing, weighted sum of the scores of its sequence.
double smoothed_score(const OracleInput& input, const std::vector<double>& scores, Index row) {
  if (!input.is_per_sequence && input.sigma == 0) return scores[static_cast<std::size_t>(row)];
  const Index first = row / input.length * input.length;
  double sum = 0;
  for (Index neighbour = first; neighbour < first + input.length; ++neighbour) {
    const auto distance = static_cast<double>(row - neighbour);
    const double weight = input.is_per_sequence ? 1 : std::exp(-distance * distance / input.sigma);
    sum += weight * scores[static_cast<std::size_t>(neighbour)];
  }
  return sum;
}

Var flatten(const Var& product) {
  return reshape(product, {product.dim(0)});
}

}  // namespace

void OracleInput::add_layer(const Tensor& logits) {
  const std::vector<std::int32_t> guesses = row_argmax(logits);
  const Tensor log_probabilities = scores_correctness ? Tensor() : log_softmax(Var(logits)).value();
  std::vector<double> layer_scores(static_cast<std::size_t>(targets.size()), 0.0);
  for (Index row = 0; row < targets.size(); ++row) {
    const std::int32_t target = targets[row];
    if (target < 0) continue;
    const auto index = static_cast<std::size_t>(row);
    layer_scores[index] = scores_correctness ? (guesses[index] == target ? 1.0 : 0.0)
                                             : static_cast<double>(log_probabilities(row, target));
  }
  scores.push_back(std::move(layer_scores));
}

IntTensor oracle_layers(const OracleInput& input) {
  IntTensor best(input.targets.shape());
  for (Index row = 0; row < best.size(); ++row) {
    best[row] = -1;
    if (input.targets[row] < 0) continue;
    double best_value = -INFINITY;
    for (std::size_t n = 0; n < input.scores.size(); ++n) {
      const double value =
          smoothed_score(input, input.scores[n], row) - input.lambda * static_cast<double>(n);
      if (value > best_value) {
        best_value = value;
        best[row] = static_cast<std::int32_t>(n);
      }
    }
  }
  return best;
}

std::vector<std::int32_t> row_argmax(const Tensor& logits) {
  const Index size = logits.dim(1);
  std::vector<std::int32_t> result;
  for (Index row = 0; row < logits.dim(0); ++row) {
    const float* begin = logits.data() + row * size;
    result.push_back(static_cast<std::int32_t>(std::max_element(begin, begin + size) - begin));
  }
  return result;
}

Var exit_probability_logits(Pass& pass, Index n, const Var& x) {
  const Var w = slice(pass.weight("exit.w"), 0, n - 1, 1);  // [1, d]
  const Var b = slice(pass.weight("exit.b"), 0, n - 1, 1);  // [1]
  pass.count(x.value().size());
  return add(flatten(matmul_transposed(x, w)), b);
}

Var classifier_logits(Pass& pass, const Var& x) {
  pass.count(x.value().size());
  return add(flatten(matmul(x, pass.weight("exit.w"))), pass.weight("exit.b"));
}

}  // namespace attnscope
