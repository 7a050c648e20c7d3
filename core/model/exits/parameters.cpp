// Parameters that rules of exits share.
#include "core/model/exits.h"

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
           .initial = std::string("aligned"),
           .choices = {"aligned", "mixed"}},
          {.key = "exit_weight",
           .symbol = "",
           .label = "Weight of the exits' loss",
           .help = "Of what trains the rule, beside the model's own loss.",
           .kind = Parameter::Kind::Real,
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
       .initial = std::string("likelihood"),
       .choices = {"likelihood", "correctness"}},
      {.key = "lambda",
       .symbol = "λ",
       .label = "Cost of a layer",
       .help = "How much better a layer must be than the one before.",
       .kind = Parameter::Kind::Real,
       .initial = 0.0,
       .least = 0,
       .most = Parameter::kMostReal,
       .slider_most = 1},
      {.key = "sigma",
       .symbol = "σ",
       .label = "Smoothing",
       .help = "Over which squared distance the scores of neighbours count, too; 0: not at all.",
       .kind = Parameter::Kind::Real,
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

}  // namespace attnscope
