#include "core/model/losses.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr double kAuxiliaryWeight = 0.5;  // weight of auxiliary losses (Al-Rfou et al.)

// For each position, the target m positions later; -1 beyond the end.
IntTensor later_targets(const IntTensor& targets, Index m) {
  const Index length = targets.dim(1);
  IntTensor shifted(targets.shape());
  for (Index n = 0; n < targets.size(); ++n) {
    shifted[n] = n % length + m < length ? targets[n + m] : -1;
  }
  return shifted;
}

}  // namespace

std::string later_target_name(Index m) {
  return "future." + std::to_string(m) + ".weight";
}

bool layers_add_losses(const ModelConfig& config) {
  return std::ranges::any_of(config.groups, [](const auto& layer) {
    return std::ranges::any_of(layer, [](const HeadGroup& group) {
      const Values& values = group.variant.values;
      return values.has("span_penalty") && values.real("span_penalty") > 0;
    });
  });
}

Var language_model_loss(const Var& logits, const IntTensor& targets) {
  return cross_entropy(logits, targets.reshaped({targets.size()}));
}

Output language_model_output(const Pass& pass, const Var& logits, const Batch& batch) {
  Output output;
  if (!logits.defined()) return output;
  const Index items = pass.batch();
  output.logits = reshape(logits, {items, logits.dim(0) / items, logits.dim(1)});
  if (batch.targets.defined()) {
    output.losses.push_back(
        weighted_loss("language_model", language_model_loss(logits, batch.targets)));
  }
  return output;
}

std::string auxiliary_refusal(const ModelConfig& config) {
  const Auxiliary& auxiliary = config.auxiliary;
  if (!auxiliary.layers && auxiliary.future == 0) return "";
  if (config.architecture.id != default_architecture().id || !config.causal ||
      !input_kind(config.input.id).is_text) {
    return "auxiliary: expected a causal decoder of text, found " + config.architecture.id +
           (config.causal ? "" : ", not causal") + ", input " + config.input.id;
  }
  if (config.exits) return "auxiliary: expected no exits, found an exit rule";
  return "";
}

void add_auxiliary_weights(WeightList& list) {
  list.set_owner("");
  const ModelConfig& config = list.config();
  for (Index m = 1; m <= config.auxiliary.future; ++m) {
    list.matrix(later_target_name(m), {config.width, config.vocabulary});
  }
}

void add_auxiliary_losses(Pass& pass, const std::vector<Var>& states, const Batch& batch,
                          Output& output) {
  const ModelConfig& config = pass.config();
  const auto layers = static_cast<Index>(states.size());
  if (config.auxiliary.layers) {
    Var sum(Tensor::zeros({}));
    for (Index n = 1; n < layers; ++n) {
      // In training, layer n of N predicts only during the first n / (2 N) of the training.
      const double last_progress = static_cast<double>(n) / static_cast<double>(2 * layers);
      if (pass.options().training && batch.progress >= last_progress) continue;
      const Var x = pass.final_norm(states[static_cast<std::size_t>(n - 1)], "");
      sum = add(sum, language_model_loss(pass.logits(x), batch.targets));
    }
    output.losses.push_back(weighted_loss("layers", sum, kAuxiliaryWeight));
  }
  if (config.auxiliary.future == 0) return;
  const Var final_state = pass.final_norm(states.back(), "");
  Var sum(Tensor::zeros({}));
  for (Index m = 1; m <= config.auxiliary.future; ++m) {
    const Var logits = pass.linear(final_state, later_target_name(m), "");
    sum = add(sum, language_model_loss(logits, later_targets(batch.targets, m)));
  }
  output.losses.push_back(weighted_loss("future", sum, kAuxiliaryWeight));
}

}  // namespace attnscope
