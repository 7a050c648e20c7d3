// universal: the same layers applied repeatedly, a variable number of times per token. Dehghani et
// al., 2018; halting: Graves, 2016.
#include "core/model/architecture.h"
#include "core/model/depth_recurrence.h"
#include "core/model/halting.h"
#include "core/model/losses.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

Output run_universal(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  Var x = run_steps(pass, batch.ids, {.groups = config.groups, .causal = config.causal});
  x = pass.final_norm(x, "");
  pass.tap("final", x);
  return language_model_output(pass, pass.recorded_logits(x), batch);
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
  a.parameters = recurrence_parameters();
  a.weights = halting_weights();
  a.refusal = transition_refusal;
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
