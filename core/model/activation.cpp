#include "core/model/activation.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"

namespace attnscope {
namespace {

// Constants for which activations of mean 0 and variance 1 stay so (Klambauer et al., 2017).
constexpr float kSeluScale = 1.0507009873554805f, kSeluLimit = 1.6732632423543772f;

Var quick_gelu(const Var& x) {
  return multiply(x, sigmoid(scale(x, 1.702f)));
}

Var squared_relu(const Var& x) {
  const Var positive = relu(x);
  return multiply(positive, positive);
}

Var unit_elu(const Var& x) {
  return elu(x);
}

Var selu(const Var& x) {
  return scale(elu(x, kSeluLimit), kSeluScale);
}

Var identity(const Var& x) {
  return x;
}

struct Row {
  Activation type;
  const char *id, *label, *gated_id, *gated_label, *equation, *summary, *source;
  Var (*apply)(const Var&);
};

constexpr const char* kGluPaper = "; gated: Shazeer, 2020, arXiv:2002.05202";

const Row kRows[] = {
    {Activation::Relu, "relu", "ReLU", "reglu", "ReGLU", "max(x, 0)",
     "Passes positive numbers unchanged and sets negative ones to 0, so that a unit is either on "
     "or off.",
     "Nair and Hinton, 2010, Rectified linear units", relu},
    {Activation::Gelu, "gelu", "GELU", "geglu", "GEGLU", "x (1 + erf(x/√2)) / 2",
     "Multiplies x by the probability that a normal variable is below x: a smooth ReLU.",
     "Hendrycks and Gimpel, 2016, arXiv:1606.08415", gelu},
    {Activation::GeluTanh, "gelu_tanh", "GELU (tanh)", "", "GEGLU (tanh)",
     "x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2",
     "Approximation of GELU by a hyperbolic tangent, as in GPT-2.",
     "Hendrycks and Gimpel, 2016, arXiv:1606.08415", gelu_tanh},
    {Activation::Silu, "silu", "SiLU", "swiglu", "SwiGLU", "x σ(x)",
     "Multiplies x by its own sigmoid: smooth, and slightly negative below 0. Swish is another "
     "name.",
     "Ramachandran et al., 2017, arXiv:1710.05941", silu},
    {Activation::QuickGelu, "quick_gelu", "GELU (sigmoid)", "", "", "x σ(1.702 x)",
     "Approximation of GELU by a sigmoid, as in CLIP.",
     "Hendrycks and Gimpel, 2016, arXiv:1606.08415", quick_gelu},
    {Activation::SquaredRelu, "squared_relu", "ReLU²", "", "", "max(x, 0)²",
     "Squares what ReLU passes.", "So et al., 2021, Primer, arXiv:2109.08668", squared_relu},
    {Activation::Elu, "elu", "ELU", "", "", "x if x > 0, else exp(x) − 1",
     "Approaches −1 for negative numbers instead of 0, so that the mean activation is closer to 0 "
     "and no unit has gradient 0.",
     "Clevert et al., 2016, arXiv:1511.07289", unit_elu},
    {Activation::Selu, "selu", "SELU", "", "", "λ x if x > 0, else λ α (exp(x) − 1)",
     "ELU with constants λ = 1.0507 and α = 1.6733, for which layers with normalised weights keep "
     "mean 0 and variance 1 without a norm.",
     "Klambauer et al., 2017, arXiv:1706.02515", selu},
    {Activation::Sigmoid, "sigmoid", "Sigmoid", "glu", "GLU", "σ(x) = 1 / (1 + exp(−x))",
     "Maps numbers to (0, 1). The gated form is the original gated linear unit: the sigmoid of one "
     "projection scales the other projection, component by component.",
     "gated: Dauphin et al., 2016, arXiv:1612.08083", sigmoid},
    {Activation::Softplus, "softplus", "Softplus", "", "", "log(1 + exp(x))",
     "A smooth ReLU that is positive everywhere.",
     "Dugas et al., 2001, Incorporating second-order functional knowledge", softplus},
    {Activation::Linear, "linear", "Linear", "liglu", "LiGLU (bilinear)", "x",
     "No activation. A plain feed-forward is then a single linear map; the gated form multiplies "
     "two projections and so is quadratic.",
     "gated: Mnih and Hinton, 2007, Three new graphical models for statistical language modelling",
     identity},
};

ActivationFunction function_of(const Row& row) {
  ActivationFunction f;
  f.id = row.id;
  f.label = row.label;
  f.group = "Activations";
  f.equation = row.equation;
  f.summary = row.summary;
  f.source = row.source;
  if (row.gated_id[0] != '\0' && f.source.find("gated") == std::string::npos) {
    f.source += kGluPaper;
  }
  f.complexity = "O(L·hidden)";
  f.type = row.type;
  f.apply = row.apply;
  f.gated_id = row.gated_id;
  f.gated_label = row.gated_label;
  return f;
}

}  // namespace

const std::vector<ActivationFunction>& activations() {
  static const std::vector<ActivationFunction> list = [] {
    std::vector<ActivationFunction> functions;
    for (const Row& row : kRows) functions.push_back(function_of(row));
    return functions;
  }();
  return list;
}

const ActivationFunction& activation(Activation type) {
  return activations()[static_cast<std::size_t>(type)];
}

std::string activation_label(Activation type, bool gated) {
  const ActivationFunction& function = activation(type);
  if (!gated) return function.label;
  return function.gated_label.empty() ? function.label + ", gated" : function.gated_label;
}

std::vector<std::string> activation_ids() {
  std::vector<std::string> ids;
  for (const ActivationFunction& f : activations()) ids.push_back(f.id);
  for (const ActivationFunction& f : activations()) {
    if (!f.gated_id.empty()) ids.push_back(f.gated_id);
  }
  return ids;
}

ActivationChoice activation_choice(std::size_t index) {
  const std::vector<ActivationFunction>& functions = activations();
  if (index < functions.size()) return {functions[index].type, false};
  const std::string id = activation_ids().at(index);
  const auto found = std::ranges::find(functions, id, &ActivationFunction::gated_id);
  return {found->type, true};
}

}  // namespace attnscope
