// universal: the same layers applied repeatedly, a variable number of times per token. Dehghani et
// al., 2018; halting: Graves, 2016.
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/rows.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Adaptive computation time: active positions, and the contribution of each step to the output.
class Halting {
 public:
  Halting(Pass& pass, Index rows)
      : pass_(pass),
        threshold_(1 - pass.config().architecture.values.real("epsilon")),
        running_(Tensor::full({rows}, 1)),
        steps_(IntTensor::full({rows}, 0)),
        accumulated_(Tensor::zeros({rows})),
        remainder_(Tensor::zeros({rows})),
        sums_(static_cast<std::size_t>(rows), 0.0) {}

  const Tensor& running() const { return running_; }
  bool all_halted() const {
    return std::ranges::none_of(running_, [](float r) { return r != 0; });
  }

  // Adds the state x [n, d] after a step; rows of halted positions have no effect. is_last: makes
  // all positions halt.
  void step(const Var& x, bool is_last) {
    const Var h = reshape(sigmoid(add(matmul(x, pass_.weight("halt.w")), pass_.weight("halt.b"))),
                          {x.dim(0)});  // [n]
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
    const Var weight = add(multiply(h, continues), multiply(remainder, halts));  // [n]
    const Var contribution = multiply(x, reshape(weight, {x.dim(0), 1}));
    output_ = output_.defined() ? add(output_, contribution) : contribution;
    remainder_ = add(remainder_, multiply(remainder, halts));
    accumulated_ = add(accumulated_, multiply(h, continues));
    running_ = continues;
  }

  const Var& output() const { return output_; }

  // Ponder cost: mean over positions of step count N plus remainder R. N has no gradient.
  Var ponder() const {
    Tensor steps(running_.shape());
    std::ranges::transform(steps_, steps.begin(), [](std::int32_t n) { return float(n); });
    return mean(add(remainder_, Var(steps)));
  }

  void record() const {
    Recorder& recorder = pass_.recorder();
    if (!recorder.on()) return;
    Tensor probabilities({static_cast<Index>(probabilities_.size()), running_.size()});
    float* out = probabilities.data();
    for (const Tensor& h : probabilities_) out = std::copy_n(h.data(), h.size(), out);
    recorder.values("halting.probability", probabilities);
    recorder.values("halting.remainder", remainder_.value());
    recorder.counts("halting.steps", steps_);
  }

 private:
  Pass& pass_;
  double threshold_;
  Tensor running_;  // [n] 1 for active positions, 0 for halted positions
  IntTensor steps_;
  Var accumulated_, remainder_, output_;
  std::vector<double> sums_;
  std::vector<Tensor> probabilities_;
};

// Adds the encoding of step t (from 1), if the model has one.
Var add_step_encoding(Pass& pass, const Var& x, Index t) {
  const Choice* choice = input_encoding(pass.config());
  if (!choice || !encoding(choice->id).uses_step) return x;
  Choice step_choice = *choice;
  step_choice.values.set("step", t);
  return pass.with_positions(x, step_choice, "embed.", 0);
}

Output run_universal(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  const Values& values = config.architecture.values;
  const Index steps = values.integer("steps");
  const bool halts = values.choice("halting") == "act";
  const Choice* choice = input_encoding(config);
  const bool adds_step = choice && encoding(choice->id).uses_step;
  Var x = adds_step ? reshape(pass.token_vectors(batch.ids), {batch.ids.size(), config.width})
                    : pass.embed(batch.ids, "");  // [n, d]
  x = pass.dropout(x);
  pass.tap("embed", x);
  Halting halting(pass, x.dim(0));
  for (Index t = 1; t <= steps; ++t) {
    pass.begin_stage("step " + std::to_string(t) + " of " + std::to_string(steps) + ", ",
                     static_cast<double>(t - 1) / static_cast<double>(steps),
                     static_cast<double>(t) / static_cast<double>(steps));
    const LayerStack stack = layer_stack("", config.groups, {.step = t}, config.causal);
    const Var new_state = run_layers(pass, stack, add_step_encoding(pass, x, t));  // [n, d]
    if (!halts) {
      x = new_state;
      continue;
    }
    x = t == 1 ? new_state : choose_rows(halting.running(), new_state, x);
    halting.step(x, t == steps);
    if (halting.all_halted()) break;
  }
  if (halts) {
    halting.record();
    x = halting.output();
  }
  x = pass.final_norm(x, "");
  pass.tap("final", x);
  const Var logits = pass.logits(x);
  if (logits.defined()) pass.recorder().logits(logits.value(), 0);
  Output output = language_model_output(pass, logits, batch);
  if (halts && batch.targets.defined()) {
    output.losses.push_back(weighted_loss("ponder", halting.ponder(), values.real("ponder")));
  }
  return output;
}

bool uses_act(const Values& values) {
  return values.choice("halting") == "act";
}

}  // namespace

Architecture universal_architecture() {
  Architecture a;
  a.id = "universal";
  a.label = "Universal";
  a.group = "Architectures";
  a.equation =
      "xᵗ = stack(xᵗ⁻¹ + p + p_t),   hᵢᵗ = σ(xᵢᵗ·w + b),   Nᵢ = min { t : Σ hᵢᵐ ≥ 1 − ε }\n"
      "yᵢ = Σ_{t<Nᵢ} hᵢᵗ xᵢᵗ + Rᵢ xᵢ^Nᵢ";
  a.summary =
      "The Universal Transformer applies the same layers repeatedly, a recurrence over depth. "
      "With adaptive computation time every position decides when to halt: its state then stays "
      "available to the others, and the output is the mean of its states, weighted by the halting "
      "probabilities.";
  a.source = "Dehghani et al., 2018, arXiv:1807.03819; Graves, 2016, arXiv:1603.08983";
  a.complexity = "N layers, up to T times";
  a.parameters = {{.key = "steps",
                   .symbol = "T",
                   .label = "Steps",
                   .help = "Maximum number of times that the layers are applied.",
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
                   .help = "Weight of the number of steps in the loss.",
                   .kind = Parameter::Kind::Real,
                   .scope = {.training = true},
                   .initial = 0.01,
                   .limits = {.min = 0, .max = Parameter::kMaxReal},
                   .slider = {.max = 0.1}}};
  a.weights = {{.name = "halt.w",
                .help = "Weights of the halting probability.",
                .shape = [](const Dimensions& n, const Values&) -> Shape {
                  return {n.model, 1};
                },
                .initial = initial_normal(0.02),
                .used = uses_act},
               {.name = "halt.b",
                .help = "Bias of the halting probability.",
                .shape = [](const Dimensions&, const Values&) -> Shape { return {1}; },
                .initial = initial_ones(),
                .used = uses_act}};
  a.add_weights = [](WeightList& list) {
    list.embedding();
    list.positions("", list.config().groups);
    list.stack("", list.config().groups, false);
    list.output();
    list.add_model_info(architecture("universal"), list.config().architecture.values);
  };
  a.run = run_universal;
  a.layer_runs = [](const ModelConfig& config, RunLength length) {
    const auto steps = static_cast<double>(config.architecture.values.integer("steps"));
    return std::vector<LayerRuns>{{steps, length.tokens, length.tokens}};
  };
  a.parts = [](const ModelConfig&) { return AddressParts{.step = true}; };
  return a;
}

}  // namespace attnscope
