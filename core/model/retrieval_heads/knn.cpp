// knn: interpolates with the tokens that followed the nearest contexts. Khandelwal et al., 2019.
//
//   p = λ p_kNN + (1 − λ) p_LM,   p_kNN(y) ∝ sum of exp(−distance / τ) over neighbours with value y
#include <algorithm>
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/pass.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace {

// Squared distances, differentiable in the query; the neighbours are fixed.  [n, k]
Var distances(const RetrievalInput& retrieved) {
  const Index rows = retrieved.query.dim(0), width = retrieved.query.dim(1);
  const Index k = retrieved.neighbours.index.dim(1);
  const Var keys = gather(Var(retrieved.store.keys), retrieved.neighbours.index);  // [n, k, d]
  const Var difference = subtract(reshape(retrieved.query, {rows, 1, width}), keys);
  return reshape(sum_axis(multiply(difference, difference), 2), {rows, k});
}

// 1 where a neighbour's value is the target, else 0.  [n, k]
Tensor target_hits(const RetrievalInput& retrieved) {
  const IntTensor& index = retrieved.neighbours.index;
  Tensor hits = Tensor::zeros(index.shape());
  for (Index n = 0; n < index.size(); ++n) {
    const std::int32_t target = retrieved.targets[n / index.dim(1)];
    if (target >= 0 && retrieved.store.values[index[n]] == target) hits[n] = 1;
  }
  return hits;
}

// Mean of -log(λ p_kNN(target) + (1 - λ) p_LM(target)).
Var mixture_loss(const RetrievalInput& retrieved, const Var& weights, double lambda) {
  const Index rows = retrieved.logits.dim(0), vocabulary = retrieved.logits.dim(1);
  Tensor at_target = Tensor::zeros({rows, vocabulary});
  Index target_count = 0;
  for (Index row = 0; row < rows; ++row) {
    if (retrieved.targets[row] < 0) continue;
    at_target(row, retrieved.targets[row]) = 1;
    ++target_count;
  }
  if (target_count == 0) return Tensor::zeros({});
  const Var log_p = sum_axis(multiply(log_softmax(retrieved.logits), at_target), 1);  // [n]
  const Var store_p = sum_axis(multiply(weights, target_hits(retrieved)), 1);         // [n]
  // If no neighbour has the target: log(1 - λ) + log p_LM, which cannot underflow.
  Tensor hit_mask(store_p.shape()), miss_mask(store_p.shape());
  for (Index row = 0; row < rows; ++row) {
    const bool has_target = retrieved.targets[row] >= 0, is_hit = store_p.value()[row] > 0;
    hit_mask[row] = has_target && is_hit ? 1 : 0;
    miss_mask[row] = has_target && !is_hit ? 1 : 0;
  }
  const Var sum_of_both = add(scale(store_p, static_cast<float>(lambda)),
                              scale(exp(log_p), static_cast<float>(1 - lambda)));
  Tensor filler(hit_mask.shape());  // 1 in rows without a hit, so that log() is finite
  std::ranges::transform(hit_mask, filler.begin(), [](float f) { return 1 - f; });
  const Var mixture_term = log(add(multiply(sum_of_both, hit_mask), filler));
  const Var misses = add(log_p, Var(Tensor::full({1}, static_cast<float>(std::log(1 - lambda)))));
  const Var likelihood = add(mixture_term, multiply(misses, miss_mask));  // [n]
  return scale(sum(likelihood), -1.0f / static_cast<float>(target_count));
}

RetrievalOutput mix_knn(Pass&, const Values& values, const RetrievalInput& retrieved) {
  const double lambda = values.real("lambda");
  const Var weights = softmax(
      scale(distances(retrieved), static_cast<float>(-1 / values.real("temperature"))));  // [n, k]
  const Tensor log_p = log_softmax(Var(retrieved.logits.value())).value();
  const Index rows = log_p.dim(0), vocabulary = log_p.dim(1);
  const Index k = retrieved.neighbours.index.dim(1);
  RetrievalOutput mixture{Tensor(log_p.shape()), Var(), Tensor()};
  std::vector<double> store_p(static_cast<std::size_t>(vocabulary));
  for (Index row = 0; row < rows; ++row) {
    std::ranges::fill(store_p, 0.0);
    for (Index n = 0; n < k; ++n) {
      const std::int32_t value = retrieved.store.values[retrieved.neighbours.index(row, n)];
      store_p[static_cast<std::size_t>(value)] += static_cast<double>(weights.value()(row, n));
    }
    for (Index y = 0; y < vocabulary; ++y) {
      const double log_lm = std::log1p(-lambda) + static_cast<double>(log_p(row, y));
      const double knn = lambda * store_p[static_cast<std::size_t>(y)];
      const double high = std::max(log_lm, std::log(knn)), low = std::min(log_lm, std::log(knn));
      mixture.log_probabilities(row, y) =
          static_cast<float>(knn > 0 ? high + std::log1p(std::exp(low - high)) : log_lm);
    }
  }
  if (retrieved.targets.defined()) mixture.loss = mixture_loss(retrieved, weights, lambda);
  return mixture;
}

Parameter real_parameter(const char* key, const char* symbol, const char* label, const char* help,
                         double initial, double slider_max) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Real,
          .initial = initial,
          .limits = {.min = 0, .max = Parameter::kMaxReal},
          .slider = {.max = slider_max}};
}

}  // namespace

RetrievalHead knn_retrieval_head() {
  RetrievalHead head;
  head.id = "knn";
  head.label = "Nearest neighbours (kNN-LM)";
  head.group = "Retrieval";
  head.equation =
      "p = λ p_kNN + (1 − λ) p_LM,   p_kNN(y) ∝ Σ exp(−‖x − kᵢ‖²/τ) over neighbours with value y";
  head.summary =
      "A datastore contains contexts and the tokens that followed. The tokens after the nearest "
      "contexts are interpolated with the model's prediction, without training.";
  head.source = "Khandelwal et al., 2019, Generalization through memorization, arXiv:1911.00172";
  head.complexity = "O(L·n·d) for a store of n contexts";
  Parameter lambda = real_parameter("lambda", "λ", "Interpolation weight",
                                    "Weight of the neighbours' distribution.", 0.25, 1);
  lambda.limits.max = std::nextafter(1.0, 0.0);
  Parameter temperature =
      real_parameter("temperature", "τ", "Temperature", "Scale of the decay with distance.", 1, 50);
  temperature.limits.min_excluded = true;
  head.parameters = {neighbours_parameter(), lambda, temperature};
  head.mix = mix_knn;
  return head;
}

}  // namespace attnscope
