// Decision Transformer (Chen et al., 2021, arXiv:2106.01345) as the Hugging Face libraries store
// it: GPT-2's layers over returns, states and actions. Action vectors must be one-hot.
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/gpt2.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/architecture.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

ModelConfig read_decision_config(const Json& json, const std::string& path) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  constexpr Index kMaxCount = Index{1} << 20;  // limit of the architecture's parameters
  ModelConfig c;
  const Index actions = object.integer("act_dim", 1, kMaxCount);
  const Index steps = object.integer_or("max_ep_len", 4096, 1, kMaxCount);
  c.architecture = default_choice(architecture("trajectory"));
  c.architecture.values.set("actions", actions);
  c.architecture.values.set("state_size", object.integer("state_dim", 1, kMaxCount));
  c.architecture.values.set("most_steps", steps);
  c.vocabulary = actions;
  c.context = 3 * steps;
  c.width = object.integer("hidden_size", 1, kMaxModelWidth);
  c.layers = object.integer_or("n_layer", 3, 1, 1024);
  c.heads = c.kv_heads = object.integer_or("n_head", 1, 1, 1024);
  if (c.width % c.heads != 0) object.fail("hidden_size", "a multiple of n_head");
  c.head_size = c.width / c.heads;
  c.hidden = object.integer_or("n_inner", 4 * c.width, 1, 8 * kMaxModelWidth);
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  c.activation = object.has("activation_function")
                     ? hugging_face_activation(object, "activation_function")
                     : Activation::Relu;
  c.gated = c.tied_output = false;
  c.attention_biases = c.feed_forward_biases = true;
  c.embedding.norm = c.head.bias = true;
  c.architecture.values.set("norm_epsilon", 1e-5);  // of embed_ln, whatever the config says
  require_flag(object, "scale_attn_weights", true);
  require_flag(object, "scale_attn_by_inverse_layer_idx", false);
  require_flag(object, "add_cross_attention", false);
  refuse_quantisation(object);
  c.groups = uniform_groups(c, default_variant(), default_encoding());
  check(c, path);
  return c;
}

// Moves the action embeddings [actions, d]. Adds the bias to each.
void move_actions(WeightMover& mover) {
  const ModelConfig& c = mover.model().config;
  Tensor table = mover.reader().take_transposed("embed_action.weight", c.vocabulary, c.width);
  const Tensor bias = mover.reader().take("embed_action.bias", {c.width});
  for (Index n = 0; n < table.size(); ++n) table[n] += bias[n % c.width];
  mover.model().weights.emplace("embed.action", Var(table));
}

// Adds the vector of position 0, which the model adds to all tokens, to the bias of the norm.
void move_norm(WeightMover& mover, Index positions) {
  const ModelConfig& c = mover.model().config;
  mover.plain("embed_ln.weight", "embed.norm.weight", {c.width});
  Tensor bias = mover.reader().take("embed_ln.bias", {c.width});
  const Tensor table = mover.reader().take("encoder.wpe.weight", {positions, c.width});
  for (Index d = 0; d < c.width; ++d) bias[d] += table[d];
  mover.model().weights.emplace("embed.norm.bias", Var(bias));
}

Model load_decision_transformer(const CheckpointSource& source) {
  Model model;
  const std::string& path = source.config_place;
  model.config = read_decision_config(source.config, path);
  const ModelConfig& c = model.config;
  const Json non_null = without_nulls(source.config);
  JsonObject object(non_null, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  mover.dense("embed_return", "embed.return", 1, c.width);
  mover.dense("embed_state", "embed.state", c.architecture.values.integer("state_size"), c.width);
  move_actions(mover);
  mover.plain("embed_timestep.weight", "embed.time",
              {c.architecture.values.integer("most_steps"), c.width});
  move_norm(mover, object.integer_or("n_positions", 1024, 1, kMaxModelTokens));
  for (Index n = 0; n < c.layers; ++n) {
    read_gpt2_layer(reader, model, "encoder.h." + std::to_string(n) + ".", layer_prefix(n), 1);
  }
  mover.norm("encoder.ln_f", "final_norm", c.width);
  reader.load("predict_action.0.weight", c.width, c.vocabulary, true, model, "output.weight");
  mover.output_bias({"predict_action.0.bias"}, {c.vocabulary});
  reader.ignore("encoder.wte.weight");  // unused
  if (object.flag_or("action_tanh", true)) {
    model.notes.push_back("the tanh of the action outputs is omitted: values are those before it");
  }
  model.notes.push_back("actions are one-hot: intermediate actions are not supported");
  mover.leave_out("predict_state.", "the state predictor");
  mover.leave_out("predict_return.", "the return predictor");
  reader.finish();
  return model;
}

}  // namespace

CheckpointFormat decision_transformer_format() {
  return {"decision_transformer", load_decision_transformer, "trajectory"};
}

}  // namespace attnscope
