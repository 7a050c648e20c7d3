// universal_encoder_decoder: an encoder and a decoder that each apply the same layers repeatedly, a
// variable number of times per token. Dehghani et al., 2018, section 2.1 and appendix.
#include "core/model/architecture.h"
#include "core/model/depth_recurrence.h"
#include "core/model/halting.h"
#include "core/model/losses.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

Output run_universal_stacks(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  const auto groups = encoder_groups(config);
  const DepthRecurrence encoder{
      .stack = "encoder.", .groups = groups, .causal = false, .begin = 0, .end = 0.5};
  const Var source = pass.final_norm(run_steps(pass, batch.source, encoder), "encoder.");
  pass.tap("encoder.final", source);  // [B L_source, d]
  const DepthRecurrence decoder{
      .groups = config.groups, .causal = config.causal, .source = source, .begin = 0.5, .end = 1};
  const Var x = pass.final_norm(run_steps(pass, batch.ids, decoder), "");  // [n, d]
  pass.tap("final", x);
  return language_model_output(pass, pass.recorded_logits(x), batch);
}

std::string universal_stacks_refusal(const ModelConfig& config) {
  const std::string transition = transition_refusal(config);
  return transition.empty() ? start_refusal(config) : transition;
}

void add_universal_stacks(WeightList& list) {
  const ModelConfig& config = list.config();
  const auto encoder = encoder_groups(config);
  list.embedding();
  list.positions("encoder.", encoder);
  list.after_positions("encoder.");
  list.stack("encoder.", encoder, false);
  list.positions("", config.groups);
  list.after_positions("");
  list.stack("", config.groups, true);
  list.output();
  list.add_model_info(architecture(config.architecture.id), config.architecture.values);
}

}  // namespace

Architecture universal_encoder_decoder_architecture() {
  Architecture a;
  a.id = "universal_encoder_decoder";
  a.label = "Universal encoder and decoder";
  a.group = "Architectures";
  a.equation =
      "m = encoder steps(source),   xᵗ = stack(xᵗ⁻¹ + p + p_t, m),   hᵢᵗ = σ(xᵢᵗ·w + b)\n"
      "yᵢ = Σ_{t<Nᵢ} hᵢᵗ xᵢᵗ + Rᵢ xᵢ^Nᵢ,   logits = norm(y) W";
  a.summary =
      "The Universal Transformer with encoder and decoder. Each applies its layers repeatedly; in "
      "every step the decoder attends to the encoder's output. With adaptive computation time "
      "source and target tokens decide for themselves when to halt.";
  a.source = "Dehghani et al., 2018, arXiv:1807.03819; Graves, 2016, arXiv:1603.08983";
  a.complexity = "N layers each, up to T times, and L·L_source pairs of cross-attention a step";
  a.reads = Reads::SourceAndTarget;
  a.has_encoder = true;
  a.parameters = {{.key = "encoder_layers",
                   .symbol = "",
                   .label = "Encoder layers",
                   .help = "Layers of the encoder, which every step applies.",
                   .required = true,
                   .initial = Index{1},
                   .limits = {.min = 1, .max = 1024},
                   .slider = {.min = 1, .max = 12}}};
  for (const Parameter& parameter : recurrence_parameters()) a.parameters.push_back(parameter);
  a.parameters.push_back(start_parameter());
  a.weights = halting_weights("encoder.");
  for (const WeightInfo& weight : halting_weights()) a.weights.push_back(weight);
  a.refusal = universal_stacks_refusal;
  a.add_weights = add_universal_stacks;
  a.run = run_universal_stacks;
  a.layer_runs = [](const ModelConfig& config, RunLength n) {
    const auto steps = static_cast<double>(config.architecture.values.integer("steps"));
    return std::vector<LayerRuns>{{steps, n.tokens, n.tokens, true},
                                  {steps, n.target, n.target},
                                  {steps, n.target, n.tokens}};
  };
  a.parts = [](const ModelConfig&) {
    return AddressParts{.stack = true, .kind = true, .step = true};
  };
  return a;
}

}  // namespace attnscope
