// T5 (Raffel et al., 2019, arXiv:1910.10683), its gated successors (T5 v1.1, Flan-T5) and mT5, as
// the Hugging Face libraries store them: matrices [out, in], RMS pre norm, no biases, unscaled
// scores, and one table of bucketed distances per stack, stored in its first layer.
#include <cmath>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/architecture.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr const char* kEncoderTable = "encoder.embed_tokens.weight";

void read_t5_feed_forward(JsonObject& object, ModelConfig& c) {
  struct Row {
    const char* name;
    Activation activation;
    bool gated;
  };
  static constexpr Row kRows[] = {{"relu", Activation::Relu, false},
                                  {"gated-gelu", Activation::GeluTanh, true},
                                  {"gated-silu", Activation::Silu, true},
                                  {"gelu", Activation::Gelu, false},
                                  {"gelu_new", Activation::GeluTanh, false}};
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  const Row& row = kRows[object.choice_or("feed_forward_proj", 0, names)];
  c.activation = row.activation;
  c.gated = row.gated;
}

Choice bucketed_distances(JsonObject& object, bool both_directions) {
  Choice t5{"t5", default_values(encoding("t5").parameters)};
  t5.values.set("buckets", object.integer_or("relative_attention_num_buckets", 32, 4, 1 << 20));
  t5.values.set("max_distance",
                object.integer_or("relative_attention_max_distance", 128, 2, kMaxModelTokens));
  t5.values.set("bidirectional", both_directions);
  return t5;
}

// Properties that follow from the tensors and the class of the model.
struct StoredParts {
  bool has_decoder = false, has_head = false;
  bool untied = false;  // the output has its own tensor, regardless of the config
};

ModelConfig read_t5_config(const Json& json, const std::string& path, const StoredParts& parts) {
  const bool has_decoder = parts.has_decoder, has_head = parts.has_head;
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig c;
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  // Relative positions are unbounded; the context is the training length.
  c.context = object.integer_or("n_positions", 512, 1, kMaxModelTokens);
  c.width = object.integer("d_model", 1, kMaxModelWidth);
  const Index layers = object.integer("num_layers", 1, 1024);
  c.layers = has_decoder ? object.integer_or("num_decoder_layers", layers, 1, 1024) : layers;
  c.heads = c.kv_heads = object.integer("num_heads", 1, 1024);
  c.head_size = object.integer("d_kv", 1, kMaxModelWidth);
  c.hidden = object.integer("d_ff", 1, 8 * kMaxModelWidth);
  read_t5_feed_forward(object, c);
  c.norm = Norm::RmsNorm;
  c.norm_epsilon = object.number_or("layer_norm_epsilon", 1e-6, 0, 1);
  c.tied_output = !parts.untied;
  c.model_options.attention_scale = 1;
  c.model_options.output_head = has_head;
  // T5 and umT5 divide the logits by sqrt(width) if their config ties the output; newer configs
  // have a key for it. mT5 ignores both.
  const bool tied = object.flag_or("tie_word_embeddings", true);
  const bool scaled =
      object.text("model_type") != "mt5" && object.flag_or("scale_decoder_outputs", tied);
  if (scaled && has_head) c.model_options.logit_scale = 1 / std::sqrt(static_cast<double>(c.width));
  if (!has_head) c.tied_output = true;
  c.causal = has_decoder;
  c.groups = uniform_groups(c, default_variant(), bucketed_distances(object, !has_decoder));
  if (has_decoder) {
    c.architecture = default_choice(architecture("encoder_decoder"));
    c.architecture.values.set("encoder_layers", layers);
    c.architecture.values.set("start",
                              object.integer_or("decoder_start_token_id", 0, 0, c.vocabulary - 1));
    c.encoder_variant = default_variant();
    c.encoder_encoding = bucketed_distances(object, true);
  }
  refuse_quantisation(object);
  check(c, path);
  return c;
}

void move_t5_attention(WeightMover& mover, const std::string& from, const std::string& to) {
  const ModelConfig& c = mover.model().config;
  const Index rows = c.heads * c.head_size;
  mover.linear(from + "q", to, "q", c.width, rows, false);
  mover.linear(from + "k", to, "k", c.width, rows, false);
  mover.linear(from + "v", to, "v", c.width, rows, false);
  mover.linear(from + "o", to, "o", rows, c.width, false);
}

void move_t5_feed_forward(WeightMover& mover, const std::string& from, const std::string& to) {
  const ModelConfig& c = mover.model().config;
  const std::string dense = from + "DenseReluDense.";
  if (c.gated) mover.linear(dense + "wi_0", to, "_gate", c.width, c.hidden, false);
  mover.linear(dense + (c.gated ? "wi_1" : "wi"), to, "_in", c.width, c.hidden, false);
  mover.linear(dense + "wo", to, "_out", c.hidden, c.width, false);
}

// theirs: "encoder." or "decoder."; ours: "encoder." or "".
void move_t5_stack(WeightMover& mover, const std::string& theirs, const std::string& ours,
                   Index layers, bool cross) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const Index buckets = c.groups[0][0].encoding.values.integer("buckets");
  const auto norm = [&](const std::string& from, const std::string& to) {
    mover.norm(from + "layer_norm", to, c.width);
  };
  for (Index n = 0; n < layers; ++n) {
    const std::string from = theirs + "block." + std::to_string(n) + ".layer.";
    const std::string to = ours + layer_prefix(n);
    move_t5_attention(mover, from + "0.SelfAttention.", to + "attn.");
    norm(from + "0.", to + "attn_norm");
    const std::string table = from + "0.SelfAttention.relative_attention_bias.weight";
    if (n == 0 || mover.has(table)) {
      mover.plain(table, to + "groups.0.pos.bias", {buckets, c.heads});
    } else {  // all layers share the first layer's table
      model.weights.emplace(to + "groups.0.pos.bias",
                            model.weights.at(ours + layer_prefix(0) + "groups.0.pos.bias"));
    }
    if (cross) {
      move_t5_attention(mover, from + "1.EncDecAttention.", to + "cross.");
      norm(from + "1.", to + "cross_norm");
      // Stored by older versions; never used.
      mover.reader().ignore(from + "1.EncDecAttention.relative_attention_bias.weight");
    }
    const std::string last = from + (cross ? "2." : "1.");
    move_t5_feed_forward(mover, last, to + "ffn.");
    norm(last, to + "ffn_norm");
  }
  mover.norm(theirs + "final_layer_norm", ours + "final_norm", c.width);
}

Model load_t5(const CheckpointSource& source) {
  Model model;
  StoredParts parts;
  parts.has_decoder = source.tensors.contains("decoder.final_layer_norm.weight");
  const Json* classes =
      source.config.contains("architectures") ? &source.config["architectures"] : nullptr;
  const bool no_head = classes && classes->is_array() && classes->size() == 1 &&
                       (*classes)[0].is_string() &&
                       (*classes)[0].get<std::string>().find("ForConditional") == std::string::npos;
  parts.has_head = parts.has_decoder && !no_head;
  const char* embedding =
      source.tensors.contains("shared.weight") ? "shared.weight" : kEncoderTable;
  parts.untied =
      parts.has_head && !are_equal_or_missing(source.tensors, embedding, "lm_head.weight");
  model.config = read_t5_config(source.config, source.config_place, parts);
  const ModelConfig& c = model.config;
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  reader.load(embedding, c.vocabulary, c.width, false, model, "embed.weight");
  for (const char* copy : {kEncoderTable, "decoder.embed_tokens.weight"}) {
    if (!reader.are_equal_or_missing(embedding, copy)) {
      reader.fail(std::string("tensor ") + copy + ": expected the same numbers as " + embedding +
                  " (separate tables for encoder and decoder are not supported)");
    }
    reader.ignore(copy);
  }
  if (parts.has_decoder) {
    move_t5_stack(mover, "encoder.", "encoder.", c.architecture.values.integer("encoder_layers"),
                  false);
    move_t5_stack(mover, "decoder.", "", c.layers, true);
  } else {
    move_t5_stack(mover, "encoder.", "", c.layers, false);
  }
  if (c.model_options.output_head) mover.output("lm_head.weight", embedding);
  reader.finish();
  return model;
}

}  // namespace

std::vector<CheckpointFormat> t5_formats() {
  return {{"t5", load_t5}, {"mt5", load_t5}, {"umt5", load_t5}};
}

}  // namespace attnscope
