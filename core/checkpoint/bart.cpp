// BART (Lewis et al., 2019, arXiv:1910.13461) and its variants mBART, Marian (Junczys-Dowmunt et
// al., 2018) and Pegasus (Zhang et al., 2020), as the Hugging Face libraries store them: matrices
// [out, in], layer norms, biases everywhere.
#include <cmath>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/architecture.h"
#include "core/model/weights.h"
#include "core/position/positions.h"
#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

// Differences between the layouts.
struct BartLayout {
  const char* model_type;
  bool pre_norm;           // true: pre norm and a final norm in each stack; false: post norm
  bool embedding_norm;     // norm of the sum of token and position embeddings
  bool learned_positions;  // table with two unused first rows; false: sinusoids
};
constexpr BartLayout kLayouts[] = {{"bart", false, true, true},
                                   {"mbart", true, true, true},
                                   {"marian", false, false, false},
                                   {"pegasus", true, false, false}};
constexpr Index kUnusedPositions = 2;
constexpr const char* kPositions = "embed_positions.weight";  // name within a stack

// Reads a size that encoder and decoder share: "encoder_" and "decoder_" followed by `name`.
Index shared_integer(JsonObject& object, const std::string& name, Index maximum) {
  const Index decoder = object.integer("decoder_" + name, 1, maximum);
  if (object.integer_or("encoder_" + name, decoder, 1, maximum) != decoder) {
    object.fail("encoder_" + name, "decoder_" + name + ", " + std::to_string(decoder) +
                                       " (nothing else is supported)");
  }
  return decoder;
}

Choice position_encoding(bool learned) {
  const char* id = learned ? "learned" : "sinusoidal";
  Choice choice{id, default_values(encoding(id).parameters)};
  if (!learned) choice.values.set("style", std::string("half"));
  return choice;
}

ModelConfig read_bart_config(const Json& json, const std::string& path, const BartLayout& layout,
                             bool has_logit_bias) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig c;
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  if (object.integer_or("decoder_vocab_size", c.vocabulary, 1, kMaxModelTokens) != c.vocabulary) {
    object.fail("decoder_vocab_size", "vocab_size (nothing else is supported)");
  }
  require_flag(object, "share_encoder_decoder_embeddings", true);
  c.context = object.integer_or("max_position_embeddings", 1024, 1, kMaxModelTokens);
  c.width = object.integer("d_model", 1, kMaxModelWidth);
  c.layers = object.integer("decoder_layers", 1, 1024);
  c.heads = c.kv_heads = shared_integer(object, "attention_heads", 1024);
  if (c.width % c.heads != 0) object.fail("d_model", "a multiple of decoder_attention_heads");
  c.head_size = c.width / c.heads;
  c.hidden = shared_integer(object, "ffn_dim", 8 * kMaxModelWidth);
  c.activation = object.has("activation_function")
                     ? hugging_face_activation(object, "activation_function")
                     : Activation::Gelu;
  c.norm = Norm::LayerNorm;
  c.pre_norm = layout.pre_norm;
  c.gated = false;
  c.attention_biases = c.feed_forward_biases = true;
  c.tied_output = object.flag_or("tie_word_embeddings", true);
  c.embedding.norm = layout.embedding_norm;
  c.head.bias = has_logit_bias;
  if (object.flag_or("scale_embedding", false)) {
    c.model_options.embedding_scale = std::sqrt(static_cast<double>(c.width));
  }
  c.groups = uniform_groups(c, default_variant(), position_encoding(layout.learned_positions));
  c.architecture = default_choice(architecture("encoder_decoder"));
  c.architecture.values.set("encoder_layers", object.integer("encoder_layers", 1, 1024));
  c.architecture.values.set("start",
                            object.integer_or("decoder_start_token_id", 0, 0, c.vocabulary - 1));
  refuse_quantisation(object);
  check(c, path);
  return c;
}

void move_bart_attention(WeightMover& mover, const std::string& from, const std::string& to) {
  const Index width = mover.model().config.width;
  mover.linear(from + "q_proj", to, "q", width, width, true);
  mover.linear(from + "k_proj", to, "k", width, width, true);
  mover.linear(from + "v_proj", to, "v", width, width, true);
  mover.linear(from + "out_proj", to, "o", width, width, true);
}

// Sinusoids of the Hugging Face libraries, [context, width].
Tensor sinusoids(const ModelConfig& c) {
  constexpr double kBase = 10000;
  return sinusoid_table(to_doubles(first_positions(c.context)),
                        sinusoid_frequencies(c.width, kBase), true);
}

// True if a stack of a layout with sinusoids stores a table of other numbers, as some released
// models do. The libraries then use the table.
bool stores_other_positions(TensorReader& reader, const ModelConfig& c, const std::string& prefix) {
  constexpr float kTolerance = 1e-3f;  // precision of 16-bit numbers
  const Tensor waves = sinusoids(c);
  for (const char* stack : {"encoder.", "decoder."}) {
    const std::string name = prefix + stack + kPositions;
    if (!reader.has(name)) continue;
    const Tensor stored = reader.take(name, {c.context, c.width});
    for (Index n = 0; n < waves.size(); ++n) {
      if (!(std::abs(stored[n] - waves[n]) <= kTolerance)) return true;
    }
  }
  return false;
}

// Moves the position table of a stack, if the model has position tables.
void move_positions(WeightMover& mover, const BartLayout& layout, const std::string& theirs,
                    const std::string& ours) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  if (c.groups[0][0].encoding.id != "learned") return;
  if (layout.learned_positions || mover.has(theirs)) {
    mover.positions(theirs, ours, c.context, layout.learned_positions ? kUnusedPositions : 0,
                    c.width);
  } else {  // only the other stack stores a table
    model.weights.emplace(ours, Var(sinusoids(c)));
  }
}

// Tensor name prefixes: `theirs` "model.encoder." or "model.decoder.", `ours` "encoder." or "".
void move_bart_stack(WeightMover& mover, const BartLayout& layout, const std::string& theirs,
                     const std::string& ours, Index layers, bool cross) {
  const ModelConfig& c = mover.model().config;
  move_positions(mover, layout, theirs + kPositions, ours + "embed.pos.embedding");
  if (layout.embedding_norm) {
    mover.norm(theirs + "layernorm_embedding", ours + "embed.norm", c.width);
  }
  for (Index n = 0; n < layers; ++n) {
    const std::string from = theirs + "layers." + std::to_string(n) + ".";
    const std::string to = ours + layer_prefix(n);
    move_bart_attention(mover, from + "self_attn.", to + "attn.");
    mover.norm(from + "self_attn_layer_norm", to + "attn_norm", c.width);
    if (cross) {
      move_bart_attention(mover, from + "encoder_attn.", to + "cross.");
      mover.norm(from + "encoder_attn_layer_norm", to + "cross_norm", c.width);
    }
    mover.linear(from + "fc1", to + "ffn.", "_in", c.width, c.hidden, true);
    mover.linear(from + "fc2", to + "ffn.", "_out", c.hidden, c.width, true);
    mover.norm(from + "final_layer_norm", to + "ffn_norm", c.width);
  }
  if (layout.pre_norm) mover.norm(theirs + "layer_norm", ours + "final_norm", c.width);
}

Model load_bart(const BartLayout& layout, const CheckpointSource& source) {
  Model model;
  const bool has_logit_bias = source.tensors.contains("final_logits_bias");
  model.config = read_bart_config(source.config, source.config_place, layout, has_logit_bias);
  const ModelConfig& c = model.config;
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const bool unprefixed = reader.has("encoder.layers.0.fc1.weight");
  const std::string prefix = unprefixed ? "" : "model.";
  if (!layout.learned_positions && stores_other_positions(reader, c, prefix)) {
    model.config.groups = uniform_groups(c, default_variant(), position_encoding(true));
  }
  std::string embedding;
  for (const char* name :
       {"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"}) {
    const std::string stored = prefix + name;
    if (!reader.has(stored)) continue;
    if (embedding.empty()) {
      embedding = stored;
    } else if (!reader.are_equal_or_missing(embedding, stored)) {
      reader.fail("tensor " + stored + ": expected the same numbers as " + embedding +
                  " (separate tables for encoder and decoder are not supported)");
    }
    reader.ignore(stored);
  }
  if (embedding.empty()) embedding = "lm_head.weight";
  reader.load(embedding, c.vocabulary, c.width, false, model, "embed.weight");
  move_bart_stack(mover, layout, prefix + "encoder.", "encoder.",
                  c.architecture.values.integer("encoder_layers"), false);
  move_bart_stack(mover, layout, prefix + "decoder.", "", c.layers, true);
  mover.output("lm_head.weight", embedding);
  if (has_logit_bias) mover.output_bias({"final_logits_bias"}, {1, c.vocabulary});
  mover.leave_out("classification_head.", "a classifier");
  mover.leave_out("qa_outputs.", "a classifier");
  reader.finish();
  return model;
}

}  // namespace

std::vector<CheckpointFormat> bart_formats() {
  std::vector<CheckpointFormat> formats;
  for (const BartLayout& layout : kLayouts) {
    formats.push_back({layout.model_type, [&layout](const CheckpointSource& source) {
                         return load_bart(layout, source);
                       }});
  }
  return formats;
}

}  // namespace attnscope
