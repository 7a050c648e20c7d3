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
  const Var apart = subtract(reshape(retrieved.query, {rows, 1, width}), keys);
  return reshape(sum_axis(multiply(apart, apart), 2), {rows, k});
}

// 1 where a neighbour's value is the target, and one-hot targets, for rows with a target.
Tensor hits_of(const RetrievalInput& retrieved) {
  const IntTensor& index = retrieved.neighbours.index;
  Tensor hits = Tensor::zeros(index.shape());
  for (Index n = 0; n < index.size(); ++n) {
    const std::int32_t target = retrieved.targets[n / index.dim(1)];
    if (target >= 0 && retrieved.store.values[index[n]] == target) hits[n] = 1;
  }
  return hits;
}

// Mean of -log(λ p_kNN(target) + (1 - λ) p_LM(target)).
Var mixture_loss(const RetrievalInput& retrieved, const Var& shares, double lambda) {
  const Index rows = retrieved.logits.dim(0), vocabulary = retrieved.logits.dim(1);
  Tensor at_target = Tensor::zeros({rows, vocabulary});
  Index counted = 0;
  for (Index row = 0; row < rows; ++row) {
    if (retrieved.targets[row] < 0) continue;
    at_target(row, retrieved.targets[row]) = 1;
    ++counted;
  }
  if (counted == 0) return Tensor::zeros({});
  const Var of_model = sum_axis(multiply(log_softmax(retrieved.logits), at_target), 1);  // [n]
  const Var of_store = sum_axis(multiply(shares, hits_of(retrieved)), 1);                // [n]
  // If no neighbour has the target: log(1 - λ) + log p_LM, which cannot underflow.
  Tensor found(of_store.shape()), missed(of_store.shape());
  for (Index row = 0; row < rows; ++row) {
    const bool counts = retrieved.targets[row] >= 0, hit = of_store.value()[row] > 0;
    found[row] = counts && hit ? 1 : 0;
    missed[row] = counts && !hit ? 1 : 0;
  }
  const Var sum_of_both = add(scale(of_store, static_cast<float>(lambda)),
                              scale(exp(of_model), static_cast<float>(1 - lambda)));
  Tensor rest(found.shape());  // rows whose logarithm is masked
  std::ranges::transform(found, rest.begin(), [](float f) { return 1 - f; });
  const Var mixed = log(add(multiply(sum_of_both, found), rest));
  const Var plain = add(of_model, Var(Tensor::full({1}, static_cast<float>(std::log(1 - lambda)))));
  const Var likelihood = add(mixed, multiply(plain, missed));  // [n]
  return scale(sum(likelihood), -1.0f / static_cast<float>(counted));
}

RetrievalOutput mix_knn(Pass&, const Values& values, const RetrievalInput& retrieved) {
  const double lambda = values.real("lambda");
  const Var shares = softmax(
      scale(distances(retrieved), static_cast<float>(-1 / values.real("temperature"))));  // [n, k]
  const Tensor of_model = log_softmax(Var(retrieved.logits.value())).value();
  const Index rows = of_model.dim(0), vocabulary = of_model.dim(1);
  const Index k = retrieved.neighbours.index.dim(1);
  RetrievalOutput mixed{Tensor(of_model.shape()), Var(), Tensor()};
  std::vector<double> of_store(static_cast<std::size_t>(vocabulary));
  for (Index row = 0; row < rows; ++row) {
    std::ranges::fill(of_store, 0.0);
    for (Index n = 0; n < k; ++n) {
      const std::int32_t value = retrieved.store.values[retrieved.neighbours.index(row, n)];
      of_store[static_cast<std::size_t>(value)] += static_cast<double>(shares.value()(row, n));
    }
    for (Index y = 0; y < vocabulary; ++y) {
      const double plain = std::log1p(-lambda) + static_cast<double>(of_model(row, y));
      const double found = lambda * of_store[static_cast<std::size_t>(y)];
      const double high = std::max(plain, std::log(found)), low = std::min(plain, std::log(found));
      mixed.log_probabilities(row, y) =
          static_cast<float>(found > 0 ? high + std::log1p(std::exp(low - high)) : plain);
    }
  }
  if (retrieved.targets.defined()) mixed.loss = mixture_loss(retrieved, shares, lambda);
  return mixed;
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
  RetrievalHead m;
  m.id = "knn";
  m.label = "Nearest neighbours (kNN-LM)";
  m.group = "Retrieval";
  m.equation =
      "p = λ p_kNN + (1 − λ) p_LM,   p_kNN(y) ∝ Σ exp(−‖x − kᵢ‖²/τ) over neighbours with value y";
  m.summary =
      "A datastore holds contexts with the tokens that followed. The tokens after the nearest "
      "contexts are interpolated with the model's prediction, without training.";
  m.source = "Khandelwal et al., 2019, Generalization through memorization, arXiv:1911.00172";
  m.complexity = "O(L·n·d) for a store of n contexts";
  Parameter lambda = real_parameter("lambda", "λ", "Interpolation weight",
                                    "Weight of the neighbours' distribution.", 0.25, 1);
  lambda.limits.max = std::nextafter(1.0, 0.0);
  Parameter temperature =
      real_parameter("temperature", "τ", "Temperature", "Scale of the decay with distance.", 1, 50);
  temperature.limits.min_excluded = true;
  m.parameters = {neighbours_parameter(), lambda, temperature};
  m.mix = mix_knn;
  return m;
}

}  // namespace attnscope
