// mixture: a weighted mean of several softmaxes, each of its own projection of the state. Yang et
// al., 2018.
//
//   h_k = tanh(x w_k + b_k),   pi = softmax(x prior),   p = sum_k pi_k softmax(h_k W)
#include <cmath>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/linear.h"
#include "core/model/output_softmax.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

Index component_count(const ModelConfig& config) {
  return config.softmax.values.integer("components");
}

// log(exp(a) + exp(b))
Var log_sum(const Var& a, const Var& b) {
  return add(a, softplus(subtract(b, a)));
}

Var mixture_logits(const Model& model, const Var& x,
                   const std::function<Var(const Var&)>& token_logits) {
  const Index width = model.config.width;
  const Var states = tanh(linear(model, x, "output.mixture.w", "output.mixture.b"));  // [n, K d]
  const Var log_prior = log_softmax(linear(model, x, "output.mixture.prior", ""));    // [n, K]
  Var result;  // [n, vocabulary]
  for (Index k = 0; k < component_count(model.config); ++k) {
    const Var log_p = log_softmax(token_logits(slice(states, 1, k * width, width)));
    const Var term = add(log_p, slice(log_prior, 1, k, 1));
    result = k == 0 ? term : log_sum(result, term);
  }
  return result;
}

std::string mixture_refusal(const ModelConfig& config) {
  if (!config.model_options.output_head) return "softmax: expected output_head true, found false";
  if (config.head.transform) return "softmax: expected no head.transform for mixture, found one";
  if (!config.embedding.adaptive.cutoffs.empty()) {
    return "softmax: expected \"plain\" with embedding.cutoffs, which divide the output, found "
           "\"mixture\"";
  }
  return "";
}

}  // namespace

OutputSoftmax mixture_softmax() {
  OutputSoftmax s;
  s.id = "mixture";
  s.label = "Mixture of softmaxes";
  s.group = "Output softmaxes";
  s.equation = "p = Σ_k π_k softmax(h_k W),   h_k = tanh(x W_k + b_k),   π = softmax(x W_π)";
  s.summary =
      "Several softmaxes, each of its own projection of the state, are averaged with weights that "
      "depend on the state. The logarithm of the mean is not linear in the state, so that the rank "
      "of the log-probabilities is no longer limited by the model's width.";
  s.source = "Yang et al., 2018, Breaking the softmax bottleneck, arXiv:1711.03953";
  s.complexity = "O(K·L·d·(V + d))";
  s.parameters = {{.key = "components",
                   .symbol = "K",
                   .label = "Components",
                   .help = "Number of softmaxes.",
                   .initial = Index{4},
                   .limits = {.min = 2, .max = 64},
                   .slider = {.min = 2, .max = 16}}};
  s.refusal = mixture_refusal;
  s.add_weights = [](WeightList& list) {
    const Index width = list.config().width, components = component_count(list.config());
    list.random("output.mixture.w", {width, components * width},
                1 / std::sqrt(static_cast<double>(width)));
    list.constant("output.mixture.b", {components * width}, 0);
    list.matrix("output.mixture.prior", {width, components});
  };
  s.logits = mixture_logits;
  s.multiply_adds = [](const ModelConfig& config) {
    const Index d = config.width;
    return component_count(config) * d * (d + 1 + config.vocabulary);
  };
  s.title = [](const ModelConfig& config) {
    return "Mixture of " + std::to_string(component_count(config)) + " softmaxes";
  };
  return s;
}

}  // namespace attnscope
