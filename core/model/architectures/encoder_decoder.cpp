// encoder_decoder: one stack reads a source, another writes and looks at it. Vaswani et al., 2017.
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

// What the encoder makes of the source.  [B L_source, d]
Var encoded(Pass& pass, const IntTensor& source) {
  const ModelConfig& config = pass.config();
  const auto groups = encoder_groups(config);
  pass.enter("encoder, ", 0, 0.5);
  Var x = pass.dropout(pass.embed(source, "encoder."));
  pass.tap("encoder.embed", x);
  x = run_layers(pass, layer_stack("encoder.", groups, {.stack = Stack::Encoder}, false), x);
  x = pass.end(x, "encoder.");
  pass.tap("encoder.final", x);
  return x;
}

// The source is read once where the target comes token by token.
Var encoded_once(Pass& pass, const IntTensor& source) {
  State* cache = pass.options().cache;
  if (!cache) return encoded(pass, source);
  if (!cache->encoded.defined()) cache->encoded = encoded(pass, source).value();
  return cache->encoded;
}

Output run_both(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  const Var source = encoded_once(pass, batch.source);
  pass.enter("decoder, ", 0.5, 1);
  const State* cache = pass.options().cache;
  Var x = pass.dropout(pass.embed(batch.ids, "", cache ? cache->length : 0));  // [n, d]
  pass.tap("embed", x);
  LayerStack stack = layer_stack("", config.groups, {}, config.causal);
  stack.source = source;
  std::optional<ExitRun> exits;
  if (config.exits) {
    exits.emplace(pass, x, source);
    exits->follow(stack);
  }
  x = run_layers(pass, stack, x);
  pass.tap("final", pass.end(x, ""));
  const Var logits = exits ? exits->logits(x) : pass.logits(pass.end(x, ""));  // [n, vocabulary]
  if (logits.defined()) pass.recorder().logits(logits.value(), 0);
  if (exits) exits->record();
  return exits ? exits->output(logits, batch) : language_model_output(pass, logits, batch);
}

Output run_encoder_decoder(Pass& pass, const Batch& batch) {
  State* cache = pass.options().cache;
  const State before = cache ? *cache : State{};
  try {
    Output output = run_both(pass, batch);
    if (cache) {
      cache->length += batch.ids.dim(1);
      ++cache->steps;
    }
    return output;
  } catch (...) {
    if (cache) *cache = before;  // a pass that was stopped leaves it as it was
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
      "An encoder reads the whole source, every token seeing every other. A decoder writes token "
      "by "
      "token; in each of its layers a second attention, cross-attention, looks at what the encoder "
      "made of the source.";
  a.source = "Vaswani et al., 2017, Attention is all you need, arXiv:1706.03762";
  a.cost = "N layers each, and L·L_source pairs of cross-attention";
  a.reads = Reads::SourceAndTarget;
  a.has_encoder = a.has_exits = a.caches = true;
  a.parameters = {{.key = "encoder_layers",
                   .symbol = "",
                   .label = "Encoder layers",
                   .help = "How many layers read the source.",
                   .required = true,
                   .initial = Index{2},
                   .least = 1,
                   .most = 1024,
                   .slider_least = 1,
                   .slider_most = 12},
                  start_parameter()};
  a.refusal = start_refusal;
  a.add_weights = [](WeightList& list) {
    const auto encoder = encoder_groups(list.config());
    list.embedding();
    list.positions("encoder.", encoder);
    list.behind_positions("encoder.");
    list.stack("encoder.", encoder, false);
    list.positions("", list.config().groups);
    list.behind_positions("");
    list.stack("", list.config().groups, true);
    list.output();
  };
  a.run = run_encoder_decoder;
  a.layer_runs = [](const ModelConfig&, RunLength of) {
    return std::vector<LayerRuns>{
        {1, of.tokens, of.tokens, true}, {1, of.target, of.target}, {1, of.target, of.tokens}};
  };
  a.parts = [](const ModelConfig&) { return AddressParts{.stack = true, .kind = true}; };
  return a;
}

}  // namespace attnscope
