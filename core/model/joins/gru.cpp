// gru: a gate decides how much of a block's output is let in. Parisotto et al., 2019.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/model/join.h"

namespace attnscope {

namespace {

WeightInfo square(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.model, n.model};
          },
          .initial = initial_projection()};
}

Joined gated(const Var& x, const Var& y, const NamedVars& weights) {
  const Var added = relu(y);  // [n, d]
  const auto sum = [&](const char* w, const char* u, const Var& state) {
    return add(matmul(added, weight(weights, w)), matmul(state, weight(weights, u)));
  };
  const Var r = sigmoid(sum("wr", "ur", x));                                  // [n, d]
  const Var z = sigmoid(subtract(sum("wz", "uz", x), weight(weights, "b")));  // [n, d]
  const Var fresh = tanh(sum("wg", "ug", multiply(r, x)));                    // [n, d]
  return {add(x, multiply(z, subtract(fresh, x))), z};
}

}  // namespace

Join gru_join() {
  Join j;
  j.id = "gru";
  j.label = "Gated (GRU)";
  j.group = "Joins";
  j.equation =
      "r = σ(y′W_r + xU_r),   z = σ(y′W_z + xU_z − b),   ĥ = tanh(y′W_g + (r ⊙ x)U_g)\n"
      "J(x, y) = (1 − z) ⊙ x + z ⊙ ĥ,   y′ = ReLU(y)";
  j.summary =
      "A gate like that of a recurrent cell decides, number by number, how much of a block's "
      "output replaces what entered. With a bias above 0 it begins almost shut: the network starts "
      "as if it had no layers, which makes training by rewards stable.";
  j.source = "Parisotto et al., 2019, Stabilizing transformers (GTrXL), arXiv:1910.06764";
  j.cost = "O(L·d²)";
  j.parameters = {{.key = "bias",
                   .symbol = "b",
                   .label = "Bias",
                   .help = "How far the gates are shut at first.",
                   .kind = Parameter::Kind::Real,
                   .initial = 2.0,
                   .least = -Parameter::kMostReal,
                   .most = Parameter::kMostReal,
                   .slider_least = -2,
                   .slider_most = 5}};
  j.weights = {square("wr", "What of the output resets."),
               square("ur", "What of the state resets."),
               square("wz", "What of the output opens the gate."),
               square("uz", "What of the state opens the gate."),
               square("wg", "What of the output is let in."),
               square("ug", "What of the state is let in."),
               {.name = "b",
                .help = "How far the gate is shut.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.model}; },
                .initial =
                    [](const Shape& shape, const Dimensions&, const Values& values, std::uint64_t) {
                      return Tensor::full(shape, static_cast<float>(values.real("bias")));
                    }}};
  j.refusal = [](const ModelConfig& config) -> std::string {
    if (config.pre_norm) return "";
    return "join: gru gates what a norm before the block leaves as it is; expected pre_norm true, "
           "found false";
  };
  j.apply = gated;
  return j;
}

}  // namespace attnscope
