// decoder: a single stack that predicts the next token at each position; an encoder if `causal` is
// false. Vaswani et al., 2017; Radford et al., 2018; Devlin et al., 2018.
#include <algorithm>

#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/contrastive_loss.h"
#include "core/model/exits.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/memory.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Rows of the last token of every sequence.  [n, d] -> [B, d]
Var last_tokens(const Pass& pass, const Var& x) {
  const Index length = x.dim(0) / pass.batch();
  if (length == 1) return x;
  return reshape(slice(pass.sequences(x), 1, length - 1, 1), {pass.batch(), x.dim(1)});
}

struct SegmentResult {
  Var logits;               // [B rows, vocabulary]
  std::vector<Var> states;  // x^1 .. x^N, for auxiliary losses
  Pass::Readout readout;    // inputs of retrieval
};

// Processes a segment that begins at position `first`, with the memory of earlier segments, if any.
SegmentResult process_segment(Pass& pass, const IntTensor& ids, Index first, Index segment,
                              std::optional<ExitRun>& exits) {
  const ModelConfig& config = pass.config();
  Var x = pass.embed(ids, "", first);  // [n, d]
  x = pass.dropout(x);
  pass.tap("embed", x, segment);
  LayerStack stack = layer_stack("", config.groups, {.segment = segment}, config.causal,
                                 [&](Index layer) { return weights_of_layer(config, layer); });
  SegmentResult result;
  if (config.exits) {
    exits.emplace(pass, x, Var());
    exits->attach_to(stack);
  } else if (config.auxiliary.layers || config.auxiliary.future > 0) {
    stack.after_layer = [&result](Index, const Var&, const Var& new_state) {
      result.states.push_back(new_state);
      return new_state;
    };
  }
  x = run_layers(pass, stack, x);
  const Var state = pass.final_norm(x, "");
  pass.tap("final", state, segment);
  result.readout = {pass.last_feed_forward_input(), state};
  const bool last_only = pass.options().last_logits;
  if (exits) {
    result.logits = exits->logits(x);
    if (last_only) result.logits = last_tokens(pass, result.logits);
    if (result.logits.defined()) pass.recorder().logits(result.logits.value(), segment);
  } else {
    result.logits = pass.recorded_logits(last_only ? last_tokens(pass, state) : state, segment);
  }
  return result;
}

// Concatenates the rows [B rows, e] of successive segments.
Var concat_rows(const Pass& pass, const std::vector<Var>& segments) {
  if (!segments[0].defined()) return {};  // no output head
  if (segments.size() == 1) return segments[0];
  std::vector<Var> parts;
  for (const Var& segment : segments) parts.push_back(pass.sequences(segment));
  const Var result = concat(parts, 1);  // [B, L, e]
  return reshape(result, {result.dim(0) * result.dim(1), result.dim(2)});
}

SegmentResult read_segments(Pass& pass, const IntTensor& ids) {
  const Index length = ids.dim(1), segment = pass.config().segment;
  State local_memory;
  if (!pass.memory()) pass.set_memory(&local_memory);
  State& memory = *pass.memory();
  std::vector<Var> logits, queries, final_states;
  std::vector<std::vector<Var>> states;
  std::optional<ExitRun> no_exits;
  Index index = 0;
  for (Index first = 0; first < length; first += segment, ++index) {
    const Index count = std::min(segment, length - first);
    const auto fraction = [&](Index tokens) {
      return static_cast<double>(tokens) / static_cast<double>(length);
    };
    pass.begin_stage("segment " + std::to_string(index + 1) + " of " +
                         std::to_string((length + segment - 1) / segment) + ", ",
                     fraction(first), fraction(first + count));
    IntTensor segment_ids({ids.dim(0), count});
    for (Index b = 0; b < ids.dim(0); ++b) {
      std::copy_n(ids.data() + b * length + first, count, segment_ids.data() + b * count);
    }
    SegmentResult result = process_segment(pass, segment_ids, memory.length, index, no_exits);
    memory.length += count;
    ++memory.steps;
    logits.push_back(result.logits);
    queries.push_back(result.readout.query);
    final_states.push_back(result.readout.state);
    states.resize(result.states.size());
    for (std::size_t n = 0; n < states.size(); ++n) states[n].push_back(result.states[n]);
  }
  SegmentResult total{
      pass.options().last_logits ? logits.back() : concat_rows(pass, logits), {}, {}};
  if (queries.back().defined()) {
    total.readout = {concat_rows(pass, queries), concat_rows(pass, final_states)};
  }
  for (const std::vector<Var>& layer : states) total.states.push_back(concat_rows(pass, layer));
  if (pass.memory() == &local_memory) {
    record_memory(pass, local_memory);
    pass.set_memory(nullptr);
  }
  return total;
}

Output run_decoder(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  const bool has_segments = config.segment > 0 && !pass.options().cache;
  State* cache = pass.options().cache;
  std::optional<ExitRun> exits;
  const SegmentResult result =
      has_segments ? read_segments(pass, batch.ids)
                   : process_segment(pass, batch.ids, cache ? cache->length : 0, 0, exits);
  if (cache) {
    cache->length += batch.ids.dim(1);
    ++cache->steps;
  }
  if (exits) exits->record();
  pass.set_readout(result.readout);
  if (exits) return exits->output(result.logits, batch);
  Output output = language_model_output(pass, result.logits, batch);
  if (!batch.targets.defined()) return output;
  add_auxiliary_losses(pass, result.states, batch, output);
  add_contrastive_loss(pass, batch, output);
  return output;
}

std::string decoder_refusal(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  if (values.real("masked") == 0) return "";
  if (config.causal) {
    return "architecture.masked: expected causal false, found true (masked-token prediction is "
           "bidirectional)";
  }
  if (values.has("mask") && values.integer("mask") >= config.vocabulary) {
    return "architecture.mask: expected an id below " + std::to_string(config.vocabulary) +
           ", found " + std::to_string(values.integer("mask"));
  }
  return "";
}

}  // namespace

Architecture decoder_architecture() {
  Architecture a;
  a.id = "decoder";
  a.label = "Decoder (or encoder)";
  a.group = "Architectures";
  a.equation = "xⁿ = block(xⁿ⁻¹),   logits = norm(xᴺ) W";
  a.summary =
      "A single stack of layers. With a causal mask it is a decoder that predicts each token from "
      "the preceding ones; without one it is a bidirectional encoder, which can be trained to "
      "predict masked tokens.";
  a.source =
      "Vaswani et al., 2017, arXiv:1706.03762; masked: Devlin et al., 2018, arXiv:1810.04805";
  a.complexity = "N layers";
  a.has_exits = a.has_segments = a.can_cache = true;
  a.parameters = {{.key = "masked",
                   .symbol = "",
                   .label = "Masked share",
                   .help = "Share of tokens that are masked in training; 0: next-token prediction.",
                   .kind = Parameter::Kind::Real,
                   .scope = {.training = true},
                   .initial = 0.0,
                   .limits = {.min = 0, .max = 0.999},
                   .slider = {.max = 0.5}},
                  {.key = "mask",
                   .symbol = "",
                   .label = "Mask id",
                   .help = "Id of the mask token.",
                   .optional = true,
                   .unset_label = "none",
                   .scope = {.training = true},
                   .initial = Index{0},
                   .slider = {.max = 256}},
                  {.key = "unplaced",
                   .symbol = "",
                   .label = "Id without a position",
                   .help = "Id of the padding token, which RoBERTa's position tables skip. Texts "
                           "with it are rejected.",
                   .optional = true,
                   .unset_label = "none",
                   .scope = {.training = true},
                   .initial = Index{0},
                   .slider = {.max = 256}}};
  a.refusal = decoder_refusal;
  a.add_weights = [](WeightList& list) {
    list.embedding();
    list.positions("", list.config().groups);
    list.after_positions("");
    list.stack("", list.config().groups, false);
    list.output();
  };
  a.run = run_decoder;
  a.is_single_stack = true;
  a.parts = [](const ModelConfig& config) { return AddressParts{.segment = config.segment > 0}; };
  return a;
}

}  // namespace attnscope
