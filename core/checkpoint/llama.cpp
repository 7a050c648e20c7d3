// Llama (Touvron et al., 2023) as the Hugging Face libraries store it: matrices [out, in], rotary
// encoding in the half style, grouped-query attention, RMS norm, SwiGLU.
#include <limits>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

void require_whole_rotation(JsonObject& object) {
  if (object.number_or("partial_rotary_factor", 1, 0, 1) != 1) {
    object.fail("partial_rotary_factor", "1 (nothing else is supported)");
  }
}

// Older configs have rope_theta and rope_scaling, newer ones both in rope_parameters.
Choice rotary(JsonObject& object, Index head_size) {
  Choice rope{"rope", default_values(encoding("rope").parameters)};
  rope.values.set("style", std::string("half"));
  rope.values.set("dims", head_size);
  double base = object.number_or("rope_theta", 10000, 1e-3, 1e18);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!object.has(key)) continue;
    const Json inner = without_nulls(object.any(key));
    JsonObject scaling(inner, object.path_of(key));
    base = scaling.number_or("rope_theta", base, 1e-3, 1e18);
    require_whole_rotation(scaling);
    const char* type_key = scaling.has("rope_type") ? "rope_type" : "type";
    const std::string type = scaling.text_or(type_key, "default");
    if (type == "linear") {
      rope.values.set("factor", scaling.number("factor", 1e-6, 1e6));
    } else if (type != "default") {
      scaling.fail(type_key, "\"default\" or \"linear\"");
    }
  }
  rope.values.set("base", base);
  return rope;
}

ModelConfig read_llama_config(const Json& json, const std::string& path) {
  const Json known = without_nulls(json);
  JsonObject object(known, path);
  ModelConfig config;
  config.vocabulary = object.integer("vocab_size", 1, kMostModelTokens);
  config.context = object.integer_or("max_position_embeddings", 2048, 1, kMostModelTokens);
  config.width = object.integer("hidden_size", 1, kMostModelWidth);
  config.layers = object.integer("num_hidden_layers", 1, 1024);
  config.heads = object.integer("num_attention_heads", 1, 1024);
  config.kv_heads = object.integer_or("num_key_value_heads", config.heads, 1, 1024);
  if (config.heads % config.kv_heads != 0) {
    object.fail("num_attention_heads",
                "a multiple of num_key_value_heads " + std::to_string(config.kv_heads));
  }
  config.head_size = object.integer_or("head_dim", std::max<Index>(config.width / config.heads, 1),
                                       1, kMostModelWidth);
  config.hidden = object.integer("intermediate_size", 1, 8 * kMostModelWidth);
  config.norm = Norm::RmsNorm;
  config.norm_epsilon = object.number_or("rms_norm_eps", 1e-6, 0, 1);
  config.activation =
      object.has("hidden_act") ? hugging_face_activation(object, "hidden_act") : Activation::Silu;
  config.attention_biases = object.flag_or("attention_bias", false);
  config.feed_forward_biases = object.flag_or("mlp_bias", false);
  config.tied_output = object.flag_or("tie_word_embeddings", false);
  require_whole_rotation(object);
  refuse_quantisation(object);
  config.groups = uniform_groups(config, default_variant(), rotary(object, config.head_size));
  check(config, path);
  return config;
}

void read_layer(TensorReader& reader, Model& model, const std::string& from,
                const std::string& to) {
  const ModelConfig& c = model.config;
  const auto linear = [&](const std::string& theirs, const std::string& letter, Index in, Index out,
                          bool bias, const std::string& folder) {
    reader.move(from + theirs + ".weight", in, out, true, model, to + folder + "w" + letter);
    if (bias) {
      model.weights.emplace(to + folder + "b" + letter,
                            Var(reader.take(from + theirs + ".bias", {out})));
    }
  };
  const auto norm = [&](const std::string& theirs, const std::string& ours) {
    model.weights.emplace(to + ours + ".weight",
                          Var(reader.take(from + theirs + ".weight", {c.width})));
  };
  const Index queries = c.heads * c.head_size, keys = c.kv_heads * c.head_size;
  norm("input_layernorm", "attn_norm");
  linear("self_attn.q_proj", "q", c.width, queries, c.attention_biases, "attn.");
  linear("self_attn.k_proj", "k", c.width, keys, c.attention_biases, "attn.");
  linear("self_attn.v_proj", "v", c.width, keys, c.attention_biases, "attn.");
  linear("self_attn.o_proj", "o", queries, c.width, c.attention_biases, "attn.");
  norm("post_attention_layernorm", "ffn_norm");
  linear("mlp.gate_proj", "_gate", c.width, c.hidden, c.feed_forward_biases, "ffn.");
  linear("mlp.up_proj", "_in", c.width, c.hidden, c.feed_forward_biases, "ffn.");
  linear("mlp.down_proj", "_out", c.hidden, c.width, c.feed_forward_biases, "ffn.");
  reader.ignore(from + "self_attn.rotary_emb.inv_freq");
}

Model load_llama(const Json& json, const StoredTensors& tensors,
                 const std::filesystem::path& folder) {
  Model model;
  model.config = read_llama_config(json, (folder / "config.json").string());
  TensorReader reader(tensors, folder, model.config);
  const ModelConfig& c = model.config;
  const std::string prefix = reader.has("embed_tokens.weight") ? "" : "model.";
  read_embedding(reader, model, prefix + "embed_tokens.weight");
  for (Index layer = 0; layer < c.layers; ++layer) {
    read_layer(reader, model, prefix + "layers." + std::to_string(layer) + ".",
               layer_prefix(layer));
  }
  model.weights.emplace("final_norm.weight", Var(reader.take(prefix + "norm.weight", {c.width})));
  read_output_head(reader, model, prefix + "embed_tokens.weight");
  reader.ignore(prefix + "rotary_emb.inv_freq");
  reader.finish();
  return model;
}

}  // namespace

CheckpointFormat llama_format() {
  return {"llama", load_llama};
}

}  // namespace attnscope
