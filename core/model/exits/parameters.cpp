// What rules of exits share: parameters, weights, and a choice that is made once.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/model/exits.h"
#include "core/model/pass.h"

namespace attnscope {

std::vector<Parameter> exit_parameters() {
  return {{.key = "classifier",
           .symbol = "",
           .label = "Predictions",
           .help = "Whether layers predict through the model's own end or through ends of theirs.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("shared"),
           .choices = {"shared", "own"}},
          {.key = "training",
           .symbol = "",
           .label = "Training",
           .help = "All layers learn to predict every token, or one that is drawn for each.",
           .kind = Parameter::Kind::Choice,
           .of_training = true,
           .initial = std::string("aligned"),
           .choices = {"aligned", "mixed"}},
          {.key = "exit_weight",
           .symbol = "",
           .label = "Weight of the exits' loss",
           .help = "Of what trains the rule, beside the model's own loss.",
           .kind = Parameter::Kind::Real,
           .of_training = true,
           .initial = 1.0,
           .least = 0,
           .most = Parameter::kMostReal,
           .slider_most = 2}};
}

std::vector<Parameter> oracle_parameters() {
  return {
      {.key = "oracle",
       .symbol = "",
       .label = "Oracle",
       .help = "What the layer to leave at is judged by.",
       .kind = Parameter::Kind::Choice,
       .of_training = true,
       .initial = std::string("likelihood"),
       .choices = {"likelihood", "correctness"}},
      {.key = "lambda",
       .symbol = "λ",
       .label = "Cost of a layer",
       .help = "How much better a layer must be than the one before.",
       .kind = Parameter::Kind::Real,
       .of_training = true,
       .initial = 0.0,
       .least = 0,
       .most = Parameter::kMostReal,
       .slider_most = 1},
      {.key = "sigma",
       .symbol = "σ",
       .label = "Smoothing",
       .help = "Over which squared distance the scores of neighbours count, too; 0: not at all.",
       .kind = Parameter::Kind::Real,
       .of_training = true,
       .initial = 0.0,
       .least = 0,
       .most = Parameter::kMostReal,
       .slider_most = 16}};
}

Parameter decay_parameter() {
  return {.key = "decay",
          .symbol = "τ",
          .label = "Decay",
          .help =
              "How fast the threshold falls along the text, or, where its tokens come one by one, "
              "along the context; 0: it stays.",
          .kind = Parameter::Kind::Real,
          .initial = 0.0,
          .least = 0,
          .most = Parameter::kMostReal,
          .slider_most = 8};
}

std::vector<WeightInfo> exit_weights(Shape (*of_w)(const Dimensions&),
                                     Shape (*of_b)(const Dimensions&)) {
  return {{.name = "exit.w",
           .help = "What of a state speaks for leaving.",
           .shape = [of_w](const Dimensions& n, const Values&) { return of_w(n); },
           .initial = initial_normal(0.02)},
          {.name = "exit.b",
           .help = "Added to what speaks for leaving.",
           .shape = [of_b](const Dimensions& n, const Values&) { return of_b(n); },
           .initial = initial_zeros()}};
}

Exits oracle_exits() {
  Exits e;
  e.group = "Exits";
  e.source = "Elbayad et al., 2020, Depth-adaptive transformer, arXiv:1910.10073";
  e.cost = "O(L·d·n) up to the exit n";
  e.parameters = exit_parameters();
  for (Parameter& parameter : oracle_parameters()) e.parameters.push_back(std::move(parameter));
  return e;
}

void choose_once(Exits& rule, Index behind_layer) {
  rule.weights = exit_weights(
      [](const Dimensions& n) -> Shape {
        return {n.model, n.layers};
      },
      [](const Dimensions& n) -> Shape { return {n.layers}; });
  rule.distribution_at = behind_layer;
  rule.distribution = [](Pass& pass, const Var& x) {
    pass.count(x.value().size() * pass.config().layers);
    return add(matmul(x, pass.weight("exit.w")), pass.weight("exit.b"));  // [rows, N]
  };
}

}  // namespace attnscope
