// rnn_attention: two recurrent networks, the origin of attention; the second attends to the states
// of the first. Bahdanau et al., 2014; Luong et al., 2015.

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/linear.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// States of a GRU with inputs x [B, L, d] and initial state s [B, d].  [B, L, d]
Var gru_states(Pass& pass, const std::string& prefix, const Var& x, Var s) {
  const Index batch = x.dim(0), length = x.dim(1), width = x.dim(2);
  const Var inputs = add(matmul(x, pass.weight(prefix + "w_ih")), pass.weight(prefix + "b_ih"));
  const auto gate = [&](const Var& gates, Index n) { return slice(gates, 1, n * width, width); };
  std::vector<Var> states;
  for (Index t = 0; t < length; ++t) {
    check_stop();
    const Var from_x = reshape(slice(inputs, 1, t, 1), {batch, 3 * width});
    const Var from_s = add(matmul(s, pass.weight(prefix + "w_hh")), pass.weight(prefix + "b_hh"));
    const Var r = sigmoid(add(gate(from_x, 0), gate(from_s, 0)));            // [B, d]
    const Var z = sigmoid(add(gate(from_x, 1), gate(from_s, 1)));            // [B, d]
    const Var n = tanh(add(gate(from_x, 2), multiply(r, gate(from_s, 2))));  // [B, d]
    s = add(n, multiply(z, subtract(s, n)));                                 // [B, d]
    states.push_back(reshape(s, {batch, 1, width}));
  }
  return concat(states, 1);
}

// Attention from decoder states s [B, L_q, d] to encoder states h [B, L_k, d].  [B, L_q, d]
Var attend_to_encoder(Pass& pass, const Var& s, const Var& h) {
  const bool uses_additive = pass.config().architecture.values.choice("score") == "additive";
  OperationInput input;
  input.batch = pass.batch();
  input.q = s;
  input.k = input.v = h;
  input.scale = 1.0f;
  if (uses_additive) {
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
  const Var h = gru_states(pass, "encoder.rnn.", vectors(batch.source),
                           Tensor::zeros({items, width}));  // [B, L_source, d]
  const Var last_state = reshape(slice(h, 1, h.dim(1) - 1, 1), {items, width});
  const Var s = gru_states(pass, "decoder.rnn.", vectors(batch.ids), last_state);  // [B, L, d]
  Var o = s;
  if (config.architecture.values.choice("score") != "none") {
    const Var concatenated = concat({attend_to_encoder(pass, s, h), s}, 2);  // [B, L, 2 d]
    o = tanh(add(matmul(concatenated, pass.weight("combine.w")), pass.weight("combine.b")));
  }
  const Var rows = reshape(o, {items * o.dim(1), width});  // [n, d]
  pass.tap("final", rows);
  const Var logits = pass.logits(rows);
  pass.recorder().logits(logits.value(), 0);
  return language_model_output(pass, logits, batch);
}

std::string rnn_refusal(const ModelConfig& config) {
  const auto expected = [](const char* value) {
    return std::string("architecture: expected ") + value +
           " for rnn_attention, which has no transformer layers";
  };
  if (config.heads != 1) return expected("heads 1");
  if (config.hidden != 0) return expected("hidden 0");
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (group.variant != default_variant()) return expected("no variant");
      if (group.encoding != default_encoding()) return expected("no position");
    }
  }
  if (config.residual_connection != default_residual_connection()) return expected("no join");
  if (config.layers != 1) return expected("layers 1");
  return start_refusal(config);
}

// Replaces layers by a recurrent cell.
void adapt_to_rnn(ModelConfig& config) {
  config.layers = config.heads = config.kv_heads = 1;
  config.head_size = config.width;
  config.hidden = 0;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  config.residual_connection = default_residual_connection();
  config.exits.reset();
  config.segment = 0;
}

bool has_score(const Values& values) {
  return values.choice("score") != "none";
}
bool is_additive(const Values& values) {
  return values.choice("score") == "additive";
}

WeightInfo cell_weight(const char* name, const char* help, Index rows, Index gate_count,
                       std::function<bool(const Values&)> used = {}) {
  return {.name = name,
          .help = help,
          .shape = [rows, gate_count](const Dimensions& n, const Values&) -> Shape {
            if (rows == 0) return {gate_count * n.model};
            return {rows * n.model, gate_count * n.model};
          },
          .initial = rows == 0 ? initial_zeros() : initial_projection(),
          .used = std::move(used)};
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
      "the source need not be compressed into one vector. The weights align target and source.";
  a.source =
      "Bahdanau et al., 2014, arXiv:1409.0473 (additive); Luong et al., 2015, arXiv:1508.04025 "
      "(dot)";
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
                  start_parameter()};
  a.weights = {
      cell_weight("encoder.rnn.w_ih", "Projection of the input to gates and candidate.", 1, 3),
      cell_weight("encoder.rnn.w_hh", "Projection of the state to gates and candidate.", 1, 3),
      cell_weight("encoder.rnn.b_ih", "Bias of the input.", 0, 3),
      cell_weight("encoder.rnn.b_hh", "Bias of the state.", 0, 3),
      cell_weight("decoder.rnn.w_ih", "Projection of the input to gates and candidate.", 1, 3),
      cell_weight("decoder.rnn.w_hh", "Projection of the state to gates and candidate.", 1, 3),
      cell_weight("decoder.rnn.b_ih", "Bias of the input.", 0, 3),
      cell_weight("decoder.rnn.b_hh", "Bias of the state.", 0, 3),
      cell_weight("attend.v", "Weights of the additive score.", 0, 1, is_additive),
      cell_weight("attend.ws", "Projection of the decoder state for the score.", 1, 1, is_additive),
      cell_weight("attend.wh", "Projection of the encoder state for the score.", 1, 1, is_additive),
      cell_weight("combine.w", "Projection of context and state.", 2, 1, has_score),
      cell_weight("combine.b", "Bias of the projection of context and state.", 0, 1, has_score)};
  a.weights[8].initial = initial_normal(0.1);  // a scoring vector, not a bias
  a.refusal = rnn_refusal;
  a.adapt = adapt_to_rnn;
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
