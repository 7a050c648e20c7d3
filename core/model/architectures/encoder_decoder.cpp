// encoder_decoder: an encoder of the source, and a decoder that attends to it. Vaswani et al.,
// 2017.
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Returns the output of the encoder.  [B L_source, d]
Var run_encoder(Pass& pass, const IntTensor& source) {
  const ModelConfig& config = pass.config();
  const auto groups = encoder_groups(config);
  pass.begin_stage("encoder, ", 0, 0.5);
  Var x = pass.dropout(pass.embed(source, "encoder."));
  pass.tap("encoder.embed", x);
  x = run_layers(pass, layer_stack("encoder.", groups, {.stack = Stack::Encoder}, false), x);
  x = pass.final_norm(x, "encoder.");
  pass.tap("encoder.final", x);
  return x;
}

// Encodes the source; with a cache, only in the first step.
Var encode_source(Pass& pass, const IntTensor& source) {
  State* cache = pass.options().cache;
  if (!cache) return run_encoder(pass, source);
  if (!cache->encoded.defined()) cache->encoded = run_encoder(pass, source).value();
  return cache->encoded;
}

Output run_stacks(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  const Var source = encode_source(pass, batch.source);
  pass.begin_stage("decoder, ", 0.5, 1);
  const State* cache = pass.options().cache;
  Var x = pass.dropout(pass.embed(batch.ids, "", cache ? cache->length : 0));  // [n, d]
  pass.tap("embed", x);
  LayerStack stack = layer_stack("", config.groups, {}, config.causal);
  stack.source = source;
  std::optional<ExitRun> exits;
  if (config.exits) {
    exits.emplace(pass, x, source);
    exits->attach_to(stack);
  }
  x = run_layers(pass, stack, x);
  const Var state = pass.final_norm(x, "");
  pass.tap("final", state);
  if (!exits) return language_model_output(pass, pass.recorded_logits(state), batch);
  const Var logits = exits->logits(x);  // [n, vocabulary]
  if (logits.defined()) pass.recorder().logits(logits.value(), 0);
  exits->record();
  return exits->output(logits, batch);
}

Output run_encoder_decoder(Pass& pass, const Batch& batch) {
  State* cache = pass.options().cache;
  const bool is_first = cache && !cache->encoded.defined();
  try {
    Output output = run_stacks(pass, batch);
    if (cache) {
      cache->length += batch.ids.dim(1);
      ++cache->steps;
    }
    return output;
  } catch (...) {
    if (is_first) cache->encoded = {};  // the next pass may have another source
    throw;
  }
}

}  // namespace

Architecture encoder_decoder_architecture() {
  Architecture a;
  a.id = "encoder_decoder";
  a.label = "Encoder and decoder";
  a.group = "Architectures";
  a.equation = "m = encoder(source),   xⁿ = block(xⁿ⁻¹, m),   logits = norm(xᴺ) W";
  a.summary =
      "A bidirectional encoder reads the whole source. A decoder generates the target token by "
      "token; in each of its layers a second attention, cross-attention, attends to the encoder's "
      "output.";
  a.source = "Vaswani et al., 2017, Attention is all you need, arXiv:1706.03762";
  a.complexity = "N layers each, and L·L_source pairs of cross-attention";
  a.reads = Reads::SourceAndTarget;
  a.has_encoder = a.has_exits = a.can_cache = true;
  a.parameters = {{.key = "encoder_layers",
                   .symbol = "",
                   .label = "Encoder layers",
                   .help = "Layers of the encoder.",
                   .required = true,
                   .initial = Index{2},
                   .limits = {.min = 1, .max = 1024},
                   .slider = {.min = 1, .max = 12}},
                  start_parameter()};
  a.refusal = start_refusal;
  a.add_weights = [](WeightList& list) {
    const auto encoder = encoder_groups(list.config());
    list.embedding();
    list.positions("encoder.", encoder);
    list.after_positions("encoder.");
    list.stack("encoder.", encoder, false);
    list.positions("", list.config().groups);
    list.after_positions("");
    list.stack("", list.config().groups, true);
    list.output();
  };
  a.run = run_encoder_decoder;
  a.layer_runs = [](const ModelConfig&, RunLength n) {
    return std::vector<LayerRuns>{
        {1, n.tokens, n.tokens, true}, {1, n.target, n.target}, {1, n.target, n.tokens}};
  };
  a.parts = [](const ModelConfig&) { return AddressParts{.stack = true, .kind = true}; };
  return a;
}

}  // namespace attnscope
