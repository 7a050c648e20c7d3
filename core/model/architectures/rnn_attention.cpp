// rnn_attention: two recurrent networks, the origin of attention; the second attends to the states
// of the first. Bahdanau et al., 2014; Luong et al., 2015; without attention: Sutskever et al.,
// 2014.

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/gru_cell.h"
#include "core/model/linear.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/recurrent_config.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

bool has_score(const Values& values) {
  return values.choice("score") != "none";
}
bool is_additive(const Values& values) {
  return values.choice("score") == "additive";
}
bool is_bidirectional(const Values& values) {
  return values.flag("bidirectional");
}

// Encoder states h, and the decoder's initial state.
struct Encoded {
  Var h;      // [B, L_source, d]
  Var start;  // [B, d]
};

Var last_row(const Var& states) {
  return reshape(slice(states, 1, states.dim(1) - 1, 1), {states.dim(0), states.dim(2)});
}

Encoded encode_source_states(const Pass& pass, const Var& x) {
  const GruCell forward(pass, "encoder.rnn.");
  const Tensor zeros = Tensor::zeros({x.dim(0), forward.size()});
  const Var h = forward.states(x, zeros);
  if (!is_bidirectional(pass.config().architecture.values)) return {h, last_row(h)};
  const GruCell backward(pass, "encoder.backward.");
  const Var back = backward.states(x, zeros, GruCell::Order::Backward);  // [B, L_source, d / 2]
  const Var at_first_token = reshape(slice(back, 1, 0, 1), {x.dim(0), backward.size()});
  return {concat({h, back}, 2), tanh(matmul(at_first_token, pass.weight("decoder.start.w")))};
}

// Attention from decoder states s [B, L_q, d] to encoder states h [B, L_k, d].  [B, L_q, d]
Var attend_to_encoder(Pass& pass, const Var& s, const Var& h) {
  OperationInput input;
  input.batch = pass.batch();
  input.q = s;
  input.k = input.v = h;
  input.scale = 1.0f;
  if (is_additive(pass.config().architecture.values)) {
    input.variant.values.set("score", std::string("additive"));
    const Index width = s.dim(2);
    input.weights = {{"add.wq", reshape(pass.weight("attend.ws"), {1, width, width})},
                     {"add.wk", reshape(pass.weight("attend.wh"), {1, width, width})},
                     {"add.v", reshape(pass.weight("attend.v"), {1, width})}};
  }
  return pass.plain_attention({.kind = AttentionKind::Cross}, std::move(input));
}

Output run_rnn(Pass& pass, const Batch& batch) {
  const ModelConfig& config = pass.config();
  const Index width = config.width, items = pass.batch();
  const auto vectors = [&](const IntTensor& ids) {
    return pass.dropout(embed_tokens(pass.model(), ids));
  };
  const Address source{.stack = Stack::Encoder}, source_states{.stack = Stack::Encoder, .layer = 1};
  auto [h, start] = encode_source_states(
      pass, pass.probed(ProbePoint::LayerInput, vectors(batch.source), source));
  h = pass.probed(ProbePoint::LayerInput, h, source_states);
  const Var target = pass.probed(ProbePoint::LayerInput, vectors(batch.ids), Address{});
  const Var s = GruCell(pass, "decoder.rnn.").states(target, start);  // [B, L, d]
  Var o = s;
  if (has_score(config.architecture.values)) {
    const Var context = pass.probed(ProbePoint::BlockOutput, attend_to_encoder(pass, s, h), "attn");
    const Var concatenated = concat({context, s}, 2);  // [B, L, 2 d]
    o = tanh(add(matmul(concatenated, pass.weight("combine.w")), pass.weight("combine.b")));
  }
  const Var rows = reshape(o, {items * o.dim(1), width});  // [n, d]
  pass.tap("final", rows);
  const Var logits = pass.logits(rows);
  pass.recorder().logits(logits.value(), 0);
  return language_model_output(pass, logits, batch);
}

std::string rnn_refusal(const ModelConfig& config) {
  const std::string reason = recurrent_refusal(config);
  if (!reason.empty()) return reason;
  const Values& values = config.architecture.values;
  if (is_bidirectional(values) && !has_score(values)) {
    return "architecture.bidirectional: expected false for score none, found true (only attention "
           "reads the states of both directions)";
  }
  if (is_bidirectional(values) && config.width % 2 != 0) {
    return "architecture.bidirectional: expected an even width, found " +
           std::to_string(config.width) + " (each direction has half of it)";
  }
  return start_refusal(config);
}

Index encoder_size(const Dimensions& n, const Values& values) {
  return is_bidirectional(values) ? n.model / 2 : n.model;
}

// Matrix from `rows` times d to d.
WeightInfo matrix_weight(const char* name, const char* help, Index rows,
                         std::function<bool(const Values&)> used) {
  return {.name = name,
          .help = help,
          .shape = [rows](const Dimensions& n, const Values&) -> Shape {
            return {rows * n.model, n.model};
          },
          .initial = initial_projection(),
          .used = std::move(used)};
}

WeightInfo vector_weight(const char* name, const char* help, Initial initial,
                         std::function<bool(const Values&)> used) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.model}; },
          .initial = std::move(initial),
          .used = std::move(used)};
}

std::vector<WeightInfo> rnn_weights() {
  std::vector<WeightInfo> weights = gru_weights("encoder.rnn.", model_width, encoder_size);
  const auto append = [&](std::vector<WeightInfo> more) {
    weights.insert(weights.end(), more.begin(), more.end());
  };
  append(gru_weights("encoder.backward.", model_width, encoder_size, is_bidirectional));
  append(gru_weights("decoder.rnn.", model_width, model_width));
  append(
      {{.name = "decoder.start.w",
        .help = "Projection of the encoder's backward state to the decoder's first state.",
        .shape = [](const Dimensions& n, const Values&) -> Shape {
          return {n.model / 2, n.model};
        },
        .initial = initial_projection(),
        .used = is_bidirectional},
       vector_weight("attend.v", "Weights of the additive score.", initial_normal(0.1),
                     is_additive),
       matrix_weight("attend.ws", "Projection of the decoder state for the score.", 1, is_additive),
       matrix_weight("attend.wh", "Projection of the encoder state for the score.", 1, is_additive),
       matrix_weight("combine.w", "Projection of context and state.", 2, has_score),
       vector_weight("combine.b", "Bias of the projection of context and state.", initial_zeros(),
                     has_score)});
  return weights;
}

}  // namespace

Architecture rnn_attention_architecture() {
  Architecture a;
  a.id = "rnn_attention";
  a.label = "Recurrent with attention";
  a.group = "Architectures";
  a.equation =
      "e_ti = s_t·hᵢ   or   v·tanh(s_t W_s + hᵢ W_h),   α = softmaxᵢ,   c_t = Σ α_ti hᵢ\n"
      "o_t = tanh([c_t ; s_t] W + b)";
  a.summary =
      "The predecessor of the transformer: one recurrent network reads the source, another "
      "generates the target, and at each step attention weights the states of the first, so that "
      "the source need not be compressed into one vector. The weights align target and source. "
      "With score none there is no attention: the second network starts from the first one's last "
      "state, and the whole source must fit into it.";
  a.source =
      "Bahdanau et al., 2014, arXiv:1409.0473 (additive, bidirectional); Luong et al., 2015, "
      "arXiv:1508.04025 (dot); Sutskever et al., 2014, arXiv:1409.3215 (none)";
  a.complexity = "O(L·d²) step by step, and L·L_source pairs";
  a.reads = Reads::SourceAndTarget;
  a.has_self_attention = false;
  a.parameters = {{.key = "score",
                   .symbol = "e",
                   .label = "Score",
                   .help = "Score of a decoder state and an encoder state.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("dot"),
                   .choices = {"dot", "additive", "none"}},
                  {.key = "bidirectional",
                   .symbol = "",
                   .label = "Bidirectional encoder",
                   .help = "A second encoder network reads the source backwards; each encoder "
                           "state concatenates the states of both directions.",
                   .kind = Parameter::Kind::Flag,
                   .initial = false},
                  start_parameter()};
  a.weights = rnn_weights();
  a.refusal = rnn_refusal;
  a.adapt = adapt_to_recurrent;
  a.add_weights = [](WeightList& list) {
    list.embedding();
    const Choice& type = list.config().architecture;
    list.add_model_info(architecture(type.id), type.values);
    list.output();
  };
  a.run = run_rnn;
  a.layer_runs = [](const ModelConfig&, RunLength length) {
    return std::vector<LayerRuns>{{1, length.tokens, length.tokens, false, false},
                                  {1, length.target, length.target, false, false},
                                  {1, length.target, length.tokens}};
  };
  a.parts = [](const ModelConfig&) { return AddressParts{.kind = true}; };
  return a;
}

}  // namespace attnscope
