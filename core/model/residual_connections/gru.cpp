// gru: a gate mixes the input and the output of a block. Parisotto et al., 2019.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/model/residual_connection.h"

namespace attnscope {
namespace {

WeightInfo square_weight(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape {
            return {n.model, n.model};
          },
          .initial = initial_projection()};
}

ResidualOutput apply_gate(const Var& x, const Var& y, const NamedVars& weights) {
  const Var activated = relu(y);  // [n, d]
  const auto sum = [&](const char* w, const char* u, const Var& state) {
    return add(matmul(activated, weight(weights, w)), matmul(state, weight(weights, u)));
  };
  const Var r = sigmoid(sum("wr", "ur", x));                                  // [n, d]
  const Var z = sigmoid(subtract(sum("wz", "uz", x), weight(weights, "b")));  // [n, d]
  const Var candidate = tanh(sum("wg", "ug", multiply(r, x)));                // [n, d]
  return {add(x, multiply(z, subtract(candidate, x))), z};
}

}  // namespace

ResidualConnection gated_residual_connection() {
  ResidualConnection join;
  join.id = "gru";
  join.label = "Gated (GRU)";
  join.group = "Residual connections";
  join.equation =
      "r = σ(y′W_r + xU_r),   z = σ(y′W_z + xU_z − b),   ĥ = tanh(y′W_g + (r ⊙ x)U_g)\n"
      "J(x, y) = (1 − z) ⊙ x + z ⊙ ĥ,   y′ = ReLU(y)";
  join.summary =
      "A GRU-like gate controls, component by component, how much of a block's output replaces its "
      "input. With a bias above 0 the gate starts almost closed, so that the network begins as if "
      "it had no layers, which stabilises reinforcement learning.";
  join.source = "Parisotto et al., 2019, Stabilizing transformers (GTrXL), arXiv:1910.06764";
  join.complexity = "O(L·d²)";
  join.parameters = {{.key = "bias",
                      .symbol = "b",
                      .label = "Bias",
                      .help = "Initial bias that closes the gates.",
                      .kind = Parameter::Kind::Real,
                      .initial = 2.0,
                      .limits = {.min = -Parameter::kMaxReal, .max = Parameter::kMaxReal},
                      .slider = {.min = -2, .max = 5}}};
  join.weights = {
      square_weight("wr", "Block output to reset gate."),
      square_weight("ur", "State to reset gate."),
      square_weight("wz", "Block output to update gate."),
      square_weight("uz", "State to update gate."),
      square_weight("wg", "Block output to candidate."),
      square_weight("ug", "State to candidate."),
      {.name = "b",
       .help = "Bias that closes the gate.",
       .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.model}; },
       .initial =
           [](const Shape& shape, const Dimensions&, const Values& values, std::uint64_t) {
             return Tensor::full(shape, static_cast<float>(values.real("bias")));
           }}};
  join.refusal = [](const ModelConfig& config) -> std::string {
    if (config.pre_norm) return "";
    return "join: gru: expected pre_norm true, found false";
  };
  join.has_gate = true;
  join.apply = apply_gate;
  return join;
}

}  // namespace attnscope
