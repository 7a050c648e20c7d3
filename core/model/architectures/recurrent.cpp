// recurrent: a recurrent network that predicts the next token, and may take several sub-steps for a
// token: adaptive computation time. Graves, 2016; the cell is a GRU.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/gru_cell.h"
#include "core/model/halting.h"
#include "core/model/linear.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/recurrent_config.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// The sub-steps of all tokens.
struct SubSteps {
  std::vector<Var> states;                      // of each token, [B, d]: mean with halting, or last
  std::vector<Var> ponder;                      // of each token, [B] N + R
  std::vector<Tensor> probabilities;            // of each token, [sub-steps, B] h
  std::vector<IntTensor> counts;                // of each token, [B] N
  std::vector<Tensor> remainders;               // of each token, [B] R
  std::vector<std::vector<Tensor>> sub_states;  // of each token and sub-step, [B, d]
};

class Recurrence {
 public:
  explicit Recurrence(Pass& pass)
      : pass_(pass),
        values_(pass.config().architecture.values),
        cell_(pass, "rnn."),
        flag_(pass.weight("rnn.flag")) {}

  // x: [B, L, d]
  SubSteps run(const Var& x) {
    const Index batch = x.dim(0), length = x.dim(1);
    const Var inputs = cell_.inputs(x);  // [B, L, 3 d]
    Var s = Tensor::zeros({batch, cell_.size()});
    SubSteps result;
    for (Index t = 0; t < length; ++t) {
      check_stop();
      s = read_token(reshape(slice(inputs, 1, t, 1), {batch, 3 * cell_.size()}), s, result);
      result.states.push_back(s);
    }
    return result;
  }

 private:
  // Returns the state after a token with these inputs [B, 3 d], from the state s [B, d].
  Var read_token(const Var& inputs, Var s, SubSteps& result) {
    const Index steps = values_.integer("steps");
    std::optional<Halting> halting;
    if (uses_halting(values_)) halting.emplace(pass_, s.dim(0));
    result.sub_states.emplace_back();
    for (Index n = 1; n <= steps; ++n) {
      s = cell_.step(n == 1 ? add(inputs, flag_) : inputs, s);
      if (pass_.recorder().on()) result.sub_states.back().push_back(s.value());
      if (!halting) continue;
      halting->step(s, n == steps);
      if (halting->all_halted()) break;
    }
    if (!halting) return s;
    result.ponder.push_back(halting->ponder());
    result.probabilities.push_back(halting->probabilities());
    result.counts.push_back(halting->steps());
    result.remainders.push_back(halting->remainder());
    return halting->output();
  }

  Pass& pass_;
  const Values& values_;
  GruCell cell_;
  Var flag_;
};

// Records the halting and the states of all sub-steps of one sequence.
void record_sub_steps(Pass& pass, const SubSteps& sub_steps) {
  Recorder& recorder = pass.recorder();
  if (!recorder.on()) return;
  const auto length = static_cast<Index>(sub_steps.states.size());
  Index most = 0;
  for (const auto& states : sub_steps.sub_states) {
    most = std::max(most, static_cast<Index>(states.size()));
  }
  const Index width = pass.config().width;
  for (Index n = 0; n < most; ++n) {
    Tensor states = Tensor::zeros({length, width});
    for (Index t = 0; t < length; ++t) {
      const auto& of_token = sub_steps.sub_states[static_cast<std::size_t>(t)];
      if (n >= static_cast<Index>(of_token.size())) continue;
      std::copy_n(of_token[static_cast<std::size_t>(n)].data(), width, states.data() + t * width);
    }
    recorder.values("steps." + std::to_string(n + 1) + ".state", states);
  }
  if (sub_steps.counts.empty()) return;
  Tensor probabilities = Tensor::zeros({most, length}), remainders({length});
  IntTensor counts({length});
  for (Index t = 0; t < length; ++t) {
    const auto index = static_cast<std::size_t>(t);
    counts[t] = sub_steps.counts[index][0];
    remainders[t] = sub_steps.remainders[index][0];
    const Tensor& h = sub_steps.probabilities[index];  // [sub-steps, 1]
    for (Index n = 0; n < h.dim(0); ++n) probabilities(n, t) = h(n, Index{0});
  }
  recorder.values("halting.probability", probabilities);
  recorder.values("halting.remainder", remainders);
  recorder.counts("halting.steps", counts);
}

Output run_recurrent(Pass& pass, const Batch& batch) {
  const Index width = pass.config().width, items = pass.batch();
  const Var x = pass.dropout(pass.embed(batch.ids, ""));  // [n, d]
  pass.tap("embed", x);
  const Var inputs = pass.probed(ProbePoint::LayerInput, x, Address{});
  const SubSteps sub_steps = Recurrence(pass).run(pass.sequences(inputs));
  record_sub_steps(pass, sub_steps);
  std::vector<Var> states;
  for (const Var& state : sub_steps.states) states.push_back(reshape(state, {items, 1, width}));
  const Var rows = reshape(concat(states, 1), {x.dim(0), width});  // [n, d]
  pass.tap("final", rows);
  const Var logits = pass.logits(rows);
  pass.recorder().logits(logits.value(), 0);
  if (!sub_steps.ponder.empty()) {
    pass.add_loss("ponder", mean(concat(sub_steps.ponder, 0)),
                  pass.config().architecture.values.real("ponder"));
  }
  return language_model_output(pass, logits, batch);
}

}  // namespace

Architecture recurrent_architecture() {
  Architecture a;
  a.id = "recurrent";
  a.label = "Recurrent";
  a.group = "Architectures";
  a.equation =
      "s_tⁿ = GRU(s_tⁿ⁻¹, x_t + [n = 1] f),   h_tⁿ = σ(s_tⁿ·w + b),   N_t = min { n : Σ h_tᵐ ≥ 1 − "
      "ε }\ns_t = Σ_{n<N_t} h_tⁿ s_tⁿ + R_t s_t^N_t,   logits = s_t W";
  a.summary =
      "A recurrent network without attention, which predicts the next token. With adaptive "
      "computation time it takes several sub-steps for a token: a halting unit decides after each "
      "of them if another follows, a flag marks the first one, and the next token begins from the "
      "mean of the sub-steps' states, weighted by the halting probabilities.";
  a.source =
      "Graves, 2016, Adaptive computation time for recurrent neural networks, arXiv:1603.08983; "
      "the cell: Cho et al., 2014, arXiv:1406.1078";
  a.complexity = "O(L·d²) step by step, up to T times";
  a.has_self_attention = false;
  a.parameters = halting_parameters("the cell is");
  a.weights = gru_weights("rnn.", model_width, model_width);
  a.weights.push_back(
      {.name = "rnn.flag",
       .help = "Contribution of the flag that marks the first sub-step.",
       .shape = [](const Dimensions& n, const Values&) -> Shape { return {3 * n.model}; },
       .initial = initial_normal(0.02)});
  for (const WeightInfo& weight : halting_weights()) a.weights.push_back(weight);
  a.refusal = recurrent_refusal;
  a.adapt = adapt_to_recurrent;
  a.add_weights = [](WeightList& list) {
    list.embedding();
    const Choice& type = list.config().architecture;
    list.add_model_info(architecture(type.id), type.values);
    list.output();
  };
  a.run = run_recurrent;
  a.layer_runs = [](const ModelConfig& config, RunLength length) {
    const auto steps = static_cast<double>(config.architecture.values.integer("steps"));
    return std::vector<LayerRuns>{{steps, length.tokens, length.tokens, false, false}};
  };
  a.parts = [](const ModelConfig&) { return AddressParts{}; };
  return a;
}

}  // namespace attnscope
