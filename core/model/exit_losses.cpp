// Training losses of models with exits (spec-models.md, section 5): the predictions of all layers,
// and the loss of the exit rule.
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/exit_oracle.h"
#include "core/model/exits.h"
#include "core/model/losses.h"
#include "core/model/pass.h"

namespace attnscope {

// Mean loss of all layers or, with mixed training, loss of the randomly drawn exit layers.
Var ExitRun::language_model_loss(const IntTensor& targets) const {
  const IntTensor ids = targets.reshaped({rows_});
  Var sum;
  if (!draws_exits_) {
    for (Index n = 1; n <= layers_; ++n) {
      const Var loss = cross_entropy(predict(n, states_[static_cast<std::size_t>(n)]), ids);
      sum = sum.defined() ? add(sum, loss) : loss;
    }
    return scale(sum, 1.0f / static_cast<float>(layers_));
  }
  const Index target_count = std::ranges::count_if(ids, [](std::int32_t t) { return t >= 0; });
  for (Index n = 1; n <= layers_; ++n) {
    IntTensor layer_targets = ids.copy();
    Index count = 0;
    for (Index row = 0; row < rows_; ++row) {
      if (exit_layers_[static_cast<std::size_t>(row)] != n) layer_targets[row] = -1;
      if (layer_targets[row] >= 0) ++count;
    }
    if (count == 0) continue;
    const Var layer_loss =
        scale(cross_entropy(predict(n, states_[static_cast<std::size_t>(n)]), layer_targets),
              static_cast<float>(count) / static_cast<float>(target_count));
    sum = sum.defined() ? add(sum, layer_loss) : layer_loss;
  }
  return sum.defined() ? sum : Var(Tensor::zeros({}));
}

Var ExitRun::distribution_loss(const IntTensor& targets) const {
  OracleInput input{.targets = targets.reshaped({rows_}), .length = length_};
  input.is_per_sequence = rule_.distribution_at == 0;
  input.scores_correctness = values_.choice("oracle") == "correctness";
  input.lambda = values_.real("lambda");
  input.sigma = values_.real("sigma");
  for (Index n = 1; n <= layers_; ++n) {
    const Var x(states_[static_cast<std::size_t>(n)].value());
    input.add_layer(predict(n, x).value());
  }
  const IntTensor oracle = oracle_layers(input);  // [rows], -1 without a target
  if (!rule_.makes_distribution) {
    if (distribution_.dim(0) == rows_) return cross_entropy(distribution_, oracle);
    // One q for all tokens of a sequence.
    IntTensor sequence_index({rows_});
    for (Index row = 0; row < rows_; ++row) {
      sequence_index[row] = static_cast<std::int32_t>(row / length_);
    }
    return cross_entropy(gather(distribution_, sequence_index), oracle);
  }
  // -log q(n) = -log X^n - sum over m < n of log(1 - X^m), with exit probabilities X^n.
  Var sum;
  const Index target_count = std::ranges::count_if(oracle, [](std::int32_t n) { return n >= 0; });
  for (Index n = 1; n < layers_; ++n) {
    const Var x(states_[static_cast<std::size_t>(n)].value());
    const Var logit = exit_probability_logits(pass_, n, x);  // [rows]
    Tensor exits = Tensor::zeros({rows_}), continues = Tensor::zeros({rows_});
    for (Index row = 0; row < rows_; ++row) {
      if (oracle[row] < 0) continue;
      if (oracle[row] == n - 1) exits[row] = 1;
      if (oracle[row] > n - 1) continues[row] = 1;
    }
    const Var cost =
        add(multiply(softplus(scale(logit, -1)), exits), multiply(softplus(logit), continues));
    sum = sum.defined() ? add(sum, attnscope::sum(cost)) : attnscope::sum(cost);
  }
  return scale(sum, target_count > 0 ? 1.0f / static_cast<float>(target_count) : 0.0f);
}

// Loss of predicting agreement with the last layer; layer n < N has weight n / (sum of n).
Var ExitRun::imitation_loss(const IntTensor& targets) const {
  const auto predictions = [&](Index n) {
    const Tensor logits = predict(n, Var(states_[static_cast<std::size_t>(n)].value())).value();
    return row_argmax(logits);
  };
  const std::vector<std::int32_t> last_predictions = predictions(layers_);
  const IntTensor ids = targets.reshaped({rows_});
  const Index target_count = std::ranges::count_if(ids, [](std::int32_t t) { return t >= 0; });
  Var sum;
  for (Index n = 1; n < layers_; ++n) {
    const std::vector<std::int32_t> prediction = predictions(n);
    const Var x(states_[static_cast<std::size_t>(n)].value());
    const Var logit = classifier_logits(pass_, x);  // [rows]
    Tensor agrees = Tensor::zeros({rows_}), differs = Tensor::zeros({rows_});
    for (Index row = 0; row < rows_; ++row) {
      if (ids[row] < 0) continue;
      const auto index = static_cast<std::size_t>(row);
      (prediction[index] == last_predictions[index] ? agrees : differs)[row] = 1;
    }
    const Var cost = attnscope::sum(
        add(multiply(softplus(scale(logit, -1)), agrees), multiply(softplus(logit), differs)));
    const double weight =
        2.0 * static_cast<double>(n) / static_cast<double>(layers_ * (layers_ - 1));
    const Var weighted = scale(cost, static_cast<float>(weight));
    sum = sum.defined() ? add(sum, weighted) : weighted;
  }
  return scale(sum, target_count > 0 ? 1.0f / static_cast<float>(target_count) : 0.0f);
}

void ExitRun::add_losses(const IntTensor& targets, Output& output) const {
  output.losses.push_back(weighted_loss("language_model", language_model_loss(targets)));
  const bool trains_exits = rule_.distribution_at >= 0 || rule_.makes_distribution;
  if (!trains_exits && !rule_.imitates_last) return;
  const Var loss = trains_exits ? distribution_loss(targets) : imitation_loss(targets);
  output.losses.push_back(weighted_loss("exit", loss, values_.real("exit_weight")));
}

}  // namespace attnscope
