#include "core/model/halting.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/pass.h"

namespace attnscope {

Halting::Halting(const Pass& pass, Index rows, const std::string& prefix)
    : threshold_(1 - pass.config().architecture.values.real("epsilon")),
      w_(pass.weight(prefix + "halt.w")),
      b_(pass.weight(prefix + "halt.b")),
      running_(Tensor::full({rows}, 1)),
      steps_(IntTensor::full({rows}, 0)),
      accumulated_(Tensor::zeros({rows})),
      remainder_(Tensor::zeros({rows})),
      sums_(static_cast<std::size_t>(rows), 0.0) {}

bool Halting::all_halted() const {
  return std::ranges::none_of(running_, [](float r) { return r != 0; });
}

void Halting::step(const Var& x, bool is_last) {
  const Var h = reshape(sigmoid(add(matmul(x, w_), b_)), {x.dim(0)});  // [n]
  Tensor halts = Tensor::zeros(running_.shape()), continues = Tensor::zeros(running_.shape());
  Tensor probabilities = Tensor::zeros(running_.shape());
  for (Index i = 0; i < running_.size(); ++i) {
    if (running_[i] == 0) continue;
    ++steps_[i];
    probabilities[i] = h.value()[i];
    double& sum = sums_[static_cast<std::size_t>(i)];
    sum += static_cast<double>(h.value()[i]);
    (sum >= threshold_ || is_last ? halts : continues)[i] = 1;
  }
  probabilities_.push_back(probabilities);
  const Var remainder = subtract(Var(Tensor::full(accumulated_.shape(), 1)), accumulated_);  // R
  const Var weight = add(multiply(h, continues), multiply(remainder, halts));                // [n]
  const Var contribution = multiply(x, reshape(weight, {x.dim(0), 1}));
  output_ = output_.defined() ? add(output_, contribution) : contribution;
  remainder_ = add(remainder_, multiply(remainder, halts));
  accumulated_ = add(accumulated_, multiply(h, continues));
  running_ = continues;
}

Var Halting::ponder() const {
  Tensor steps(running_.shape());
  std::ranges::transform(steps_, steps.begin(), [](std::int32_t n) { return float(n); });
  return add(remainder_, Var(steps));
}

Tensor Halting::probabilities() const {
  Tensor all({static_cast<Index>(probabilities_.size()), running_.size()});
  float* out = all.data();
  for (const Tensor& h : probabilities_) out = std::copy_n(h.data(), h.size(), out);
  return all;
}

void Halting::record(Pass& pass, const std::string& prefix) const {
  Recorder& recorder = pass.recorder();
  if (!recorder.on()) return;
  recorder.values(prefix + "halting.probability", probabilities());
  recorder.values(prefix + "halting.remainder", remainder());
  recorder.counts(prefix + "halting.steps", steps());
}

bool uses_halting(const Values& values) {
  return values.choice("halting") == "act";
}

std::vector<Parameter> halting_parameters(const std::string& what) {
  return {{.key = "steps",
           .symbol = "T",
           .label = "Steps",
           .help = "Maximum number of times that " + what + " applied.",
           .required = true,
           .initial = Index{4},
           .limits = {.min = 1, .max = 1024},
           .slider = {.min = 1, .max = 12}},
          {.key = "halting",
           .symbol = "",
           .label = "Halting",
           .help = "Adaptive computation time (act), or a fixed number of steps (none).",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("none"),
           .choices = {"none", "act"}},
          {.key = "epsilon",
           .symbol = "ε",
           .label = "Epsilon",
           .help = "A position halts when its halting probabilities sum to 1 minus this.",
           .kind = Parameter::Kind::Real,
           .initial = 0.01,
           .limits = {.min = 0, .max = 1},
           .slider = {.max = 0.5}},
          {.key = "ponder",
           .symbol = "",
           .label = "Ponder cost",
           .help = "Weight of the ponder cost, steps plus remainder, in the loss.",
           .kind = Parameter::Kind::Real,
           .scope = {.training = true},
           .initial = 0.01,
           .limits = {.min = 0, .max = Parameter::kMaxReal},
           .slider = {.max = 0.1}}};
}

std::vector<WeightInfo> halting_weights(const std::string& prefix) {
  return {{.name = prefix + "halt.w",
           .help = "Weights of the halting probability.",
           .shape = [](const Dimensions& n, const Values&) -> Shape {
             return {n.model, 1};
           },
           .initial = initial_normal(0.02),
           .used = uses_halting},
          {.name = prefix + "halt.b",
           .help = "Bias of the halting probability.",
           .shape = [](const Dimensions&, const Values&) -> Shape { return {1}; },
           .initial = initial_ones(),
           .used = uses_halting}};
}

}  // namespace attnscope
