// Shared parts of exit rules: parameters, weights, and a single choice of the exit layer.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

std::vector<Parameter> exit_parameters() {
  return {
      {.key = "classifier",
       .symbol = "",
       .label = "Predictions",
       .help = "Output head of the layers: the model's (shared), or one per layer (own).",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("shared"),
       .choices = {"shared", "own"}},
      {.key = "training",
       .symbol = "",
       .label = "Training",
       .help = "Trains all layers on every token (aligned), or a random layer per token (mixed).",
       .kind = Parameter::Kind::Choice,
       .scope = {.training = true},
       .initial = std::string("aligned"),
       .choices = {"aligned", "mixed"}},
      {.key = "exit_weight",
       .symbol = "",
       .label = "Exit loss weight",
       .help = "Weight of the exit rule's loss in the total loss.",
       .kind = Parameter::Kind::Real,
       .scope = {.training = true},
       .initial = 1.0,
       .limits = {.min = 0, .max = Parameter::kMaxReal},
       .slider = {.max = 2}}};
}

std::vector<Parameter> oracle_parameters() {
  return {{.key = "oracle",
           .symbol = "",
           .label = "Oracle",
           .help = "Criterion for the best exit layer.",
           .kind = Parameter::Kind::Choice,
           .scope = {.training = true},
           .initial = std::string("likelihood"),
           .choices = {"likelihood", "correctness"}},
          {.key = "lambda",
           .symbol = "λ",
           .label = "Cost per layer",
           .help = "Penalty per layer: a later exit has to be better by this much.",
           .kind = Parameter::Kind::Real,
           .scope = {.training = true},
           .initial = 0.0,
           .limits = {.min = 0, .max = Parameter::kMaxReal},
           .slider = {.max = 1}},
          {.key = "sigma",
           .symbol = "σ",
           .label = "Smoothing",
           .help = "Squared width of smoothing over neighbouring tokens; 0: none.",
           .kind = Parameter::Kind::Real,
           .scope = {.training = true},
           .initial = 0.0,
           .limits = {.min = 0, .max = Parameter::kMaxReal},
           .slider = {.max = 16}}};
}

Parameter decay_parameter() {
  return {.key = "decay",
          .symbol = "τ",
          .label = "Decay",
          .help =
              "Decay of the threshold along the text (during generation: along the context); 0: "
              "constant.",
          .kind = Parameter::Kind::Real,
          .initial = 0.0,
          .limits = {.min = 0, .max = Parameter::kMaxReal},
          .slider = {.max = 8}};
}

std::vector<WeightInfo> exit_weights(Shape (*w_shape)(const Dimensions&),
                                     Shape (*b_shape)(const Dimensions&)) {
  return {{.name = "exit.w",
           .help = "Weights of the exit decision.",
           .shape = [w_shape](const Dimensions& n, const Values&) { return w_shape(n); },
           .initial = initial_normal(0.02)},
          {.name = "exit.b",
           .help = "Bias of the exit decision.",
           .shape = [b_shape](const Dimensions& n, const Values&) { return b_shape(n); },
           .initial = initial_zeros()}};
}

ExitRule oracle_exits() {
  ExitRule rule;
  rule.group = "Exits";
  rule.source = "Elbayad et al., 2020, Depth-adaptive transformer, arXiv:1910.10073";
  rule.complexity = "O(L·d·n) up to the exit n";
  rule.parameters = exit_parameters();
  for (Parameter& parameter : oracle_parameters()) rule.parameters.push_back(std::move(parameter));
  return rule;
}

void choose_layer_once(ExitRule& rule, Index layer) {
  rule.weights = exit_weights(
      [](const Dimensions& n) -> Shape {
        return {n.model, n.layers};
      },
      [](const Dimensions& n) -> Shape { return {n.layers}; });
  rule.distribution_at = layer;
  rule.distribution = [](Pass& pass, const Var& x) {
    pass.count(x.value().size() * pass.config().layers);
    return add(matmul(x, pass.weight("exit.w")), pass.weight("exit.b"));  // [rows, N]
  };
}

}  // namespace attnscope
