// ModernBERT (Warner et al., 2024, arXiv:2412.13663) as the Hugging Face libraries store it: pre
// norm except for the first attention, RoPE, gated feed-forward blocks, and local windows except in
// every third layer.
#include <algorithm>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// RoPE base of the layer type `type` ("full_attention"); newer configs store one base per type.
double modern_base(JsonObject& object, const char* type, const char* older_key, double fallback) {
  double base = object.number_or(older_key, fallback, 1e-3, 1e18);
  if (!object.has("rope_parameters")) return base;
  const Json all = without_nulls(object.any("rope_parameters"));
  JsonObject by_type(all, object.path_of("rope_parameters"));
  if (!by_type.has(type)) return base;
  const Json type_settings = without_nulls(by_type.any(type));
  JsonObject parameters(type_settings, by_type.path_of(type));
  if (parameters.text_or("rope_type", "default") != "default") {
    parameters.fail("rope_type", "\"default\" (nothing else is supported)");
  }
  return parameters.number_or("rope_theta", base, 1e-3, 1e18);
}

std::vector<bool> full_layers(JsonObject& object, Index layers) {
  std::vector<bool> full;
  if (object.has("layer_types")) {
    const Json& types = object.array("layer_types");
    for (const Json& type : types) {
      const bool is_full = type == "full_attention";
      if (!is_full && type != "sliding_attention") {
        object.fail("layer_types", "\"full_attention\" or \"sliding_attention\"");
      }
      full.push_back(is_full);
    }
    if (static_cast<Index>(full.size()) != layers) object.fail("layer_types", "one for each layer");
    return full;
  }
  const Index every = object.integer_or("global_attn_every_n_layers", 3, 1, 1024);
  for (Index n = 0; n < layers; ++n) full.push_back(n % every == 0);
  return full;
}

ModelConfig read_modernbert_config(const Json& json, const std::string& path, bool has_head) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig c;
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  c.context = object.integer_or("max_position_embeddings", 8192, 1, kMaxModelTokens);
  c.width = object.integer("hidden_size", 1, kMaxModelWidth);
  c.layers = object.integer("num_hidden_layers", 1, 1024);
  c.heads = c.kv_heads = object.integer("num_attention_heads", 1, 1024);
  if (c.width % c.heads != 0) object.fail("hidden_size", "a multiple of num_attention_heads");
  c.head_size = c.width / c.heads;
  c.hidden = object.integer("intermediate_size", 1, 8 * kMaxModelWidth);
  c.activation = object.has("hidden_activation")
                     ? hugging_face_activation(object, "hidden_activation")
                     : Activation::Gelu;
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or("norm_eps", 1e-5, 0, 1);
  c.model_options.norm_biases = object.flag_or("norm_bias", false);
  c.attention_biases = object.flag_or("attention_bias", false);
  c.feed_forward_biases = object.flag_or("mlp_bias", false);
  c.causal = false;
  c.embedding.norm = c.embedding.first_norm = true;
  c.tied_output = object.flag_or("tie_word_embeddings", true) || !has_head;
  c.model_options.output_head = c.head.transform = has_head;
  if (has_head) {
    c.head.bias = object.flag_or("decoder_bias", true);
    c.head.activation = object.has("classifier_activation")
                            ? hugging_face_activation(object, "classifier_activation")
                            : Activation::Gelu;
  }
  refuse_quantisation(object);
  const auto rope = [&](double base) {
    Choice choice{"rope", default_values(encoding("rope").parameters)};
    choice.values.set("style", std::string("half"));
    choice.values.set("dims", c.head_size);
    choice.values.set("base", base);
    return choice;
  };
  const Choice far = rope(modern_base(object, "full_attention", "global_rope_theta", 160000));
  const Choice near = rope(modern_base(object, "sliding_attention", "local_rope_theta", 10000));
  Choice window{"local", default_values(variant("local").parameters)};
  window.values.set("window", object.integer_or("local_attention", 128, 2, kMaxModelTokens) / 2);
  for (const bool full : full_layers(object, c.layers)) {
    c.groups.push_back({{c.heads, full ? default_variant() : window, full ? far : near}});
  }
  return c;
}

// Transpose [in, count] of rows [first, first + count) of a stored matrix [rows, in].
Tensor transposed_rows(const Tensor& all, Index first, Index count) {
  const Index in = all.dim(1);
  Tensor part({in, count});
  for (Index r = 0; r < count; ++r) {
    for (Index c = 0; c < in; ++c) part[c * count + r] = all(first + r, c);
  }
  return part;
}

// Splits a stored matrix [letters * out, in], and its bias if `bias`, into one weight per letter.
void split_rows(WeightMover& mover, const std::string& theirs, const std::string& folder,
                const std::vector<std::string>& letters, Index in, Index out, bool bias) {
  const auto count = static_cast<Index>(letters.size());
  Model& model = mover.model();
  const auto narrow = mover.reader().take_narrow(theirs + ".weight", count * out, in);
  const Tensor weight =
      narrow ? Tensor() : mover.reader().take(theirs + ".weight", {count * out, in});
  const Tensor offsets = bias ? mover.reader().take(theirs + ".bias", {count * out}) : Tensor();
  for (Index n = 0; n < count; ++n) {
    const std::string& letter = letters[static_cast<std::size_t>(n)];
    if (narrow) {
      model.narrow.emplace(folder + "w" + letter, narrow->transpose().column_range(n * out, out));
    } else {
      model.weights.emplace(folder + "w" + letter, Var(transposed_rows(weight, n * out, out)));
    }
    if (bias) model.weights.emplace(folder + "b" + letter, Var(offsets.slice(n * out, out)));
  }
}

// Heads without a bias store no tensor of their own if the output is tied: their class tells them
// from classifiers, which have the same transform.
bool has_masked_head(const CheckpointSource& source) {
  const StoredTensors& tensors = source.tensors;
  if (!tensors.contains("head.dense.weight") || tensors.contains("classifier.weight")) return false;
  if (tensors.contains("decoder.bias") || tensors.contains("decoder.weight")) return true;
  if (!source.config.contains("architectures")) return true;
  const Json& classes = source.config["architectures"];
  return classes.is_array() && std::any_of(classes.begin(), classes.end(), [](const Json& name) {
           return name.is_string() &&
                  name.get<std::string>().find("ForMaskedLM") != std::string::npos;
         });
}

Model load_modernbert(const CheckpointSource& source) {
  Model model;
  const std::string& path = source.config_place;
  const bool has_head = has_masked_head(source);
  ModelConfig& c = model.config;
  c = read_modernbert_config(source.config, path, has_head);
  if (has_head) set_masked_prediction(c, source);
  check(c, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const std::string prefix = reader.has("embeddings.tok_embeddings.weight") ? "" : "model.";
  const std::string table = prefix + "embeddings.tok_embeddings.weight";
  reader.load(table, c.vocabulary, c.width, false, model, "embed.weight");
  mover.norm(prefix + "embeddings.norm", "embed.norm", c.width);
  for (Index n = 0; n < c.layers; ++n) {
    const std::string from = prefix + "layers." + std::to_string(n) + ".", to = layer_prefix(n);
    if (has_attention_norm(c, n)) mover.norm(from + "attn_norm", to + "attn_norm", c.width);
    split_rows(mover, from + "attn.Wqkv", to + "attn.", {"q", "k", "v"}, c.width, c.width,
               c.attention_biases);
    mover.linear(from + "attn.Wo", to + "attn.", "o", c.width, c.width, c.attention_biases);
    mover.norm(from + "mlp_norm", to + "ffn_norm", c.width);
    split_rows(mover, from + "mlp.Wi", to + "ffn.", {"_gate", "_in"}, c.width, c.hidden,
               c.feed_forward_biases);
    mover.linear(from + "mlp.Wo", to + "ffn.", "_out", c.hidden, c.width, c.feed_forward_biases);
  }
  mover.norm(prefix + "final_norm", "final_norm", c.width);
  if (has_head) {
    mover.dense("head.dense", "output.transform", c.width, c.width);
    mover.norm("head.norm", "output.transform.norm", c.width);
    mover.output("decoder.weight", table);
    if (c.head.bias) mover.output_bias({"decoder.bias"}, {c.vocabulary});
  }
  mover.leave_out("classifier.", "a classifier");
  if (!has_head) mover.leave_out("head.", "a classifier");
  reader.finish();
  return model;
}

}  // namespace

CheckpointFormat modernbert_format() {
  return {"modernbert", load_modernbert};
}

}  // namespace attnscope
