// BERT (Devlin et al., 2018) and its variants RoBERTa, XLM-R, CamemBERT, DistilBERT, ELECTRA,
// ALBERT, DeBERTa-v2, Longformer and BigBird, as the Hugging Face libraries store them: matrices
// [out, in], post norm, biases everywhere. Poolers and classifiers are omitted with a note.
#include "core/autodiff/operations_reduce.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Tensor names within "<layer>.".
struct LayerNames {
  const char *q, *k, *v, *o, *attention_norm, *in, *out, *ffn_norm;
};
constexpr LayerNames kBertLayer{"attention.self.query",
                                "attention.self.key",
                                "attention.self.value",
                                "attention.output.dense",
                                "attention.output.LayerNorm",
                                "intermediate.dense",
                                "output.dense",
                                "output.LayerNorm"};
constexpr LayerNames kDebertaLayer{"attention.self.query_proj",
                                   "attention.self.key_proj",
                                   "attention.self.value_proj",
                                   "attention.output.dense",
                                   "attention.output.LayerNorm",
                                   "intermediate.dense",
                                   "output.dense",
                                   "output.LayerNorm"};
constexpr LayerNames kDistilLayer{"attention.q_lin",   "attention.k_lin",  "attention.v_lin",
                                  "attention.out_lin", "sa_layer_norm",    "ffn.lin1",
                                  "ffn.lin2",          "output_layer_norm"};
constexpr LayerNames kAlbertLayer{"attention.query", "attention.key",        "attention.value",
                                  "attention.dense", "attention.LayerNorm",  "ffn",
                                  "ffn_output",      "full_layer_layer_norm"};

// Tensor names of a masked language model head, whose bias has several alternative names.
struct HeadNames {
  std::string dense, norm, decoder;
  std::vector<std::string> biases;
};
const HeadNames kBertHead{"cls.predictions.transform.dense",
                          "cls.predictions.transform.LayerNorm",
                          "cls.predictions.decoder.weight",
                          {"cls.predictions.bias", "cls.predictions.decoder.bias"}};
const HeadNames kRobertaHead{"lm_head.dense",
                             "lm_head.layer_norm",
                             "lm_head.decoder.weight",
                             {"lm_head.bias", "lm_head.decoder.bias"}};
const HeadNames kDistilHead{
    "vocab_transform", "vocab_layer_norm", "vocab_projector.weight", {"vocab_projector.bias"}};
const HeadNames kElectraHead{"generator_predictions.dense",
                             "generator_predictions.LayerNorm",
                             "generator_lm_head.weight",
                             {"generator_lm_head.bias"}};
const HeadNames kAlbertHead{"predictions.dense",
                            "predictions.LayerNorm",
                            "predictions.decoder.weight",
                            {"predictions.bias", "predictions.decoder.bias"}};
const HeadNames kDebertaHead{"lm_predictions.lm_head.dense",
                             "lm_predictions.lm_head.LayerNorm",
                             "lm_predictions.lm_head.decoder.weight",
                             {"lm_predictions.lm_head.bias"}};

// Differences between the layouts.
struct EncoderLayout {
  std::string model_type, prefix;
  LayerNames layer = kBertLayer;
  std::string layers = "encoder.layer.";
  std::vector<HeadNames> heads{kBertHead};
  const char* default_activation = "gelu";
  bool head_gelu = false;         // the head uses GELU instead of the config's activation
  bool padded_positions = false;  // the first rows of the position table belong to padding
  bool distil_keys = false;       // config.json uses "dim" and similar keys
  // Read further config keys and tensors; may be null.
  void (*config)(JsonObject&, ModelConfig&) = nullptr;
  void (*weights)(WeightMover&, const EncoderLayout&, const std::string& prefix) = nullptr;
};

void require_text(JsonObject& object, const char* key, const std::string& expected) {
  const std::string found = object.text_or(key, expected);
  if (found != expected) object.fail(key, "\"" + expected + "\" (nothing else is supported)");
}

void read_encoder_sizes(JsonObject& object, const EncoderLayout& layout, ModelConfig& c,
                        Index& skipped) {
  const bool distil = layout.distil_keys;
  const auto key = [distil](const char* bert_key, const char* distil_key) {
    return distil ? distil_key : bert_key;
  };
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  c.context = object.integer_or("max_position_embeddings", 512, 1, kMaxModelTokens);
  if (layout.padded_positions) {
    const Index padding = object.integer_or("pad_token_id", 1, 0, c.vocabulary - 1);
    skipped = padding + 1;
    c.architecture.values.set("unplaced", padding);
  }
  if (c.context <= skipped) {
    object.fail("max_position_embeddings", "more than " + std::to_string(skipped));
  }
  c.context -= skipped;
  c.width = object.integer(key("hidden_size", "dim"), 1, kMaxModelWidth);
  c.layers = object.integer(key("num_hidden_layers", "n_layers"), 1, 1024);
  c.heads = c.kv_heads = object.integer(key("num_attention_heads", "n_heads"), 1, 1024);
  if (c.width % c.heads != 0) {
    object.fail(key("hidden_size", "dim"),
                "a multiple of " + std::string(key("num_attention_heads", "n_heads")));
  }
  c.head_size = c.width / c.heads;
  c.hidden = object.integer(key("intermediate_size", "hidden_dim"), 1, 8 * kMaxModelWidth);
  c.activation =
      hugging_face_activation(object, key("hidden_act", "activation"), layout.default_activation);
  c.norm_epsilon = object.number_or("layer_norm_eps", 1e-12, 0, 1);
  c.embedding.types = distil ? 0 : object.integer_or("type_vocab_size", 2, 0, kMaxModelWidth);
}

ModelConfig read_encoder_config(const Json& json, const std::string& path,
                                const EncoderLayout& layout, Index& skipped) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig c;
  read_encoder_sizes(object, layout, c, skipped);
  c.norm = Norm::LayerNorm;
  c.pre_norm = c.gated = c.causal = false;
  c.attention_biases = c.feed_forward_biases = true;
  c.embedding.norm = true;
  c.tied_output = object.flag_or("tie_word_embeddings", true);
  require_flag(object, "is_decoder", false);
  require_flag(object, "add_cross_attention", false);
  require_text(object, "position_embedding_type", "absolute");
  refuse_quantisation(object);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  c.groups = uniform_groups(c, default_variant(), learned);
  if (layout.config) layout.config(object, c);
  return c;
}

void move_encoder_layer(WeightMover& mover, const LayerNames& names, const std::string& from,
                        const std::string& to) {
  const ModelConfig& c = mover.model().config;
  mover.linear(from + names.q, to + "attn.", "q", c.width, c.width, true);
  mover.linear(from + names.k, to + "attn.", "k", c.width, c.width, true);
  mover.linear(from + names.v, to + "attn.", "v", c.width, c.width, true);
  mover.linear(from + names.o, to + "attn.", "o", c.width, c.width, true);
  mover.norm(from + names.attention_norm, to + "attn_norm", c.width);
  mover.feed_forward({from + names.in, from + names.out, from + names.ffn_norm}, to);
}

void move_encoder_embedding(WeightMover& mover, const std::string& prefix, Index skipped) {
  const ModelConfig& c = mover.model().config;
  const Index width = table_width(c);
  const std::string from = prefix + "embeddings.";
  mover.reader().load(from + "word_embeddings.weight", c.vocabulary, width, false, mover.model(),
                      "embed.weight");
  if (input_encoding(c)) {
    mover.positions(from + "position_embeddings.weight", "embed.pos.embedding", c.context, skipped,
                    width);
  }
  if (c.embedding.types > 0) {
    mover.plain(from + "token_type_embeddings.weight", "embed.type", {c.embedding.types, width});
  }
  mover.norm(from + "LayerNorm", "embed.norm", width);
  mover.reader().ignore(from + "position_ids");  // 0, 1, 2, ...; stored by older versions
  mover.reader().ignore(from + "token_type_ids");
}

const HeadNames* find_head(const EncoderLayout& layout, const StoredTensors& tensors) {
  for (const HeadNames& head : layout.heads) {
    if (tensors.contains(head.dense + ".weight")) return &head;
  }
  return nullptr;
}

void move_masked_head(WeightMover& mover, const HeadNames& head, const std::string& embedding) {
  const ModelConfig& c = mover.model().config;
  const Index width = table_width(c);
  mover.dense(head.dense, "output.transform", c.width, width);
  mover.norm(head.norm, "output.transform.norm", width);
  mover.output(head.decoder, embedding);
  mover.output_bias(head.biases, {c.vocabulary});
}

void leave_out_heads(WeightMover& mover, const std::string& prefix) {
  mover.leave_out(prefix + "pooler.", "the pooler");
  // Classifiers of DeBERTa have a pooler of their own.
  if (!prefix.empty()) mover.leave_out("pooler.", "the pooler");
  for (const char* name :
       {"cls.seq_relationship.", "sop_classifier.", "classifier.", "pre_classifier.", "qa_outputs.",
        "score.", "discriminator_predictions.", "mask_predictions."}) {
    mover.leave_out(name, "a classifier");
  }
}

Model load_encoder(const EncoderLayout& layout, const CheckpointSource& source) {
  Model model;
  const std::string& path = source.config_place;
  ModelConfig& c = model.config;
  Index skipped = 0;
  c = read_encoder_config(source.config, path, layout, skipped);
  const HeadNames* head = find_head(layout, source.tensors);
  c.model_options.output_head = c.head.bias = c.head.transform = head != nullptr;
  c.head.activation = layout.head_gelu ? Activation::Gelu : c.activation;
  if (head) {
    set_masked_prediction(c, source);
  } else {
    c.tied_output = c.embedding.width == 0;
    c.head = {};
  }
  check(c, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const bool unprefixed = reader.has("embeddings.word_embeddings.weight");
  const std::string prefix = unprefixed ? "" : layout.prefix;
  move_encoder_embedding(mover, prefix, skipped);
  for (Index n = 0; n < c.layers && c.own_layers == 0; ++n) {
    move_encoder_layer(mover, layout.layer, prefix + layout.layers + std::to_string(n) + ".",
                       layer_prefix(n));
  }
  if (layout.weights) layout.weights(mover, layout, prefix);
  if (head) move_masked_head(mover, *head, prefix + "embeddings.word_embeddings.weight");
  leave_out_heads(mover, prefix);
  reader.finish();
  return model;
}

// ---- ALBERT and ELECTRA: narrow embedding, shared layers

void albert_config(JsonObject& object, ModelConfig& c) {
  const Index width = object.integer_or("embedding_size", 128, 1, kMaxModelWidth);
  c.embedding.width = width;
  c.own_layers = object.integer_or("num_hidden_groups", 1, 1, c.layers);
  if (object.integer_or("inner_group_num", 1, 1, 1024) != 1) {
    object.fail("inner_group_num", "1 (nothing else is supported)");
  }
}

void albert_weights(WeightMover& mover, const EncoderLayout& layout, const std::string& prefix) {
  const ModelConfig& c = mover.model().config;
  mover.dense(prefix + "encoder.embedding_hidden_mapping_in", "embed.project", c.embedding.width,
              c.width);
  for (Index n = 0; n < c.layers; ++n) {
    if (weights_of_layer(c, n) != n) continue;
    const std::string group = std::to_string(n * c.own_layers / c.layers);
    move_encoder_layer(mover, layout.layer,
                       prefix + "encoder.albert_layer_groups." + group + ".albert_layers.0.",
                       layer_prefix(n));
  }
}

void electra_config(JsonObject& object, ModelConfig& c) {
  const Index width = object.integer_or("embedding_size", c.width, 1, kMaxModelWidth);
  if (width != c.width) c.embedding.width = width;
}

void electra_weights(WeightMover& mover, const EncoderLayout&, const std::string& prefix) {
  const ModelConfig& c = mover.model().config;
  if (c.embedding.width == 0) return;
  mover.dense(prefix + "embeddings_project", "embed.project", c.embedding.width, c.width);
}

// ---- DeBERTa-v2 and v3

void deberta_config(JsonObject& object, ModelConfig& c) {
  require_flag(object, "relative_attention", true);
  require_flag(object, "position_biased_input", false);
  require_flag(object, "share_att_key", true);
  require_text(object, "norm_rel_ebd", "layer_norm");
  if (object.integer_or("conv_kernel_size", 0, 0, 1024) != 0) {
    object.fail("conv_kernel_size", "0 (convolution layers are not supported)");
  }
  if (object.integer_or("embedding_size", c.width, 1, kMaxModelWidth) != c.width) {
    object.fail("embedding_size", "hidden_size (nothing else is supported)");
  }
  const Json types = object.has("pos_att_type") ? object.any("pos_att_type") : Json();
  const bool has_both = types.is_array()
                            ? types.size() == 2 && types[0] != types[1]
                            : types.is_string() && (types == "c2p|p2c" || types == "p2c|c2p");
  if (!has_both) object.fail("pos_att_type", "\"c2p|p2c\" (nothing else is supported)");
  const Index max_relative = object.integer_or("max_relative_positions", -1, -1, kMaxModelTokens);
  const Index farthest = max_relative > 0 ? max_relative : c.context;
  const Index buckets = object.integer_or("position_buckets", -1, -1, kMaxModelTokens);
  Choice deberta{"deberta", default_values(encoding("deberta").parameters)};
  deberta.values.set("key_side", std::string("query_key"));
  deberta.values.set("clip", buckets > 0 ? buckets : farthest);
  deberta.values.erase("max_distance");
  if (buckets > 0) deberta.values.set("max_distance", farthest);
  c.groups = uniform_groups(c, default_variant(), deberta);
}

// Copies the normalised distance table and the projections of q and k to each layer's encoding.
void deberta_weights(WeightMover& mover, const EncoderLayout&, const std::string& prefix) {
  Model& model = mover.model();
  const ModelConfig& c = model.config;
  const Index rows = 2 * c.groups[0][0].encoding.values.integer("clip");
  const std::string from = prefix + "encoder.";
  const Tensor table = mover.reader().take(from + "rel_embeddings.weight", {rows, c.width});
  const Tensor gain = mover.reader().take(from + "LayerNorm.weight", {c.width});
  const Tensor bias = mover.reader().take(from + "LayerNorm.bias", {c.width});
  const Var normed = layer_norm(Var(table), Var(gain), Var(bias), c.norm_epsilon);
  for (Index n = 0; n < c.layers; ++n) {
    const std::string attn = layer_prefix(n) + "attn.", to = group_prefix(n, 0) + "pos.";
    model.weights.emplace(to + "rel", Var(normed.value()));
    for (const char* letter : {"q", "k"}) {
      const auto narrow = model.narrow.find(attn + "w" + letter);
      model.weights.emplace(to + "w" + letter, narrow == model.narrow.end()
                                                   ? model.weights.at(attn + "w" + letter)
                                                   : Var(narrow->second.to_tensor()));
      model.weights.emplace(to + "b" + letter, model.weights.at(attn + "b" + letter));
    }
  }
}

// ---- Longformer, BigBird

void longformer_config(JsonObject& object, ModelConfig& c) {
  constexpr Index kMaxWindow = Index{1} << 20;
  const Choice positions = c.groups[0][0].encoding;
  const bool is_list = object.has("attention_window") && object.any("attention_window").is_array();
  std::vector<Index> windows(
      static_cast<std::size_t>(c.layers),
      is_list ? 0 : object.integer_or("attention_window", 512, 2, kMaxWindow));
  if (is_list) {
    const Json& list = object.array("attention_window");
    if (list.size() != windows.size()) object.fail("attention_window", "one for each layer");
    for (std::size_t n = 0; n < windows.size(); ++n) {
      const bool valid = list[n].is_number_integer() && list[n] >= 2 && list[n] <= kMaxWindow;
      if (!valid) object.fail("attention_window", "even numbers of at least 2");
      windows[n] = list[n].get<Index>();
    }
  }
  c.groups.clear();
  for (const Index window : windows) {
    if (window % 2 != 0) object.fail("attention_window", "even numbers of at least 2");
    Choice longformer{"longformer", default_values(variant("longformer").parameters)};
    longformer.values.set("window", window / 2);
    longformer.values.set("global", std::vector<Index>{0});  // as for classifiers
    longformer.values.set("projections", std::string("own"));
    c.groups.push_back({{c.heads, longformer, positions}});
  }
}

void longformer_weights(WeightMover& mover, const EncoderLayout& layout,
                        const std::string& prefix) {
  const ModelConfig& c = mover.model().config;
  for (Index n = 0; n < c.layers; ++n) {
    const std::string from = prefix + layout.layers + std::to_string(n) + ".attention.self.";
    const std::string to = group_prefix(n, 0) + "global.";
    mover.variant_linear(from + "query_global", to, "q", c.width, c.width);
    mover.variant_linear(from + "key_global", to, "k", c.width, c.width);
    mover.variant_linear(from + "value_global", to, "v", c.width, c.width);
  }
  mover.model().notes.push_back(
      "the first token is global, as for classification; for other tasks, set the parameter global "
      "of longformer");
}

void bigbird_config(JsonObject& object, ModelConfig& c) {
  require_flag(object, "rescale_embeddings", false);
  require_flag(object, "use_bias", true);
  const std::string type = object.text_or("attention_type", "block_sparse");
  if (type == "original_full") return;
  if (type != "block_sparse") {
    object.fail("attention_type", "\"block_sparse\" or \"original_full\"");
  }
  Choice sparse{"bigbird", default_values(variant("bigbird").parameters)};
  sparse.values.set("block", object.integer_or("block_size", 64, 1, 1 << 20));
  sparse.values.set("window_blocks", Index{3});
  sparse.values.set("global_blocks", Index{1});
  sparse.values.set("last_blocks", Index{1});
  sparse.values.set("random_blocks", object.integer_or("num_random_blocks", 3, 0, 1024));
  sparse.values.set("by_head", true);
  c.groups = uniform_groups(c, sparse, c.groups[0][0].encoding);
}

void bigbird_weights(WeightMover& mover, const EncoderLayout&, const std::string&) {
  const ModelConfig& c = mover.model().config;
  if (c.groups[0][0].variant.id != "bigbird") return;
  mover.model().notes.push_back(
      "the random blocks are drawn again: the checkpoint does not store them");
}

const std::vector<EncoderLayout>& encoder_layouts() {
  static const std::vector<EncoderLayout> list = [] {
    std::vector<EncoderLayout> all{{.model_type = "bert", .prefix = "bert."},
                                   {.model_type = "distilbert",
                                    .prefix = "distilbert.",
                                    .layer = kDistilLayer,
                                    .layers = "transformer.layer.",
                                    .heads = {kDistilHead},
                                    .distil_keys = true},
                                   {.model_type = "electra",
                                    .prefix = "electra.",
                                    .heads = {kElectraHead},
                                    .head_gelu = true,
                                    .config = electra_config,
                                    .weights = electra_weights},
                                   {.model_type = "albert",
                                    .prefix = "albert.",
                                    .layer = kAlbertLayer,
                                    .heads = {kAlbertHead},
                                    .default_activation = "gelu_new",
                                    .config = albert_config,
                                    .weights = albert_weights},
                                   {.model_type = "deberta-v2",
                                    .prefix = "deberta.",
                                    .layer = kDebertaLayer,
                                    .heads = {kDebertaHead, kBertHead},
                                    .config = deberta_config,
                                    .weights = deberta_weights},
                                   {.model_type = "longformer",
                                    .prefix = "longformer.",
                                    .heads = {kRobertaHead},
                                    .head_gelu = true,
                                    .padded_positions = true,
                                    .config = longformer_config,
                                    .weights = longformer_weights},
                                   {.model_type = "big_bird",
                                    .prefix = "bert.",
                                    .default_activation = "gelu_new",
                                    .config = bigbird_config,
                                    .weights = bigbird_weights}};
    for (const char* type : {"roberta", "xlm-roberta", "camembert"}) {
      all.push_back({.model_type = type,
                     .prefix = "roberta.",
                     .heads = {kRobertaHead},
                     .head_gelu = true,
                     .padded_positions = true});
    }
    return all;
  }();
  return list;
}

}  // namespace

std::vector<CheckpointFormat> encoder_formats() {
  std::vector<CheckpointFormat> formats;
  for (const EncoderLayout& layout : encoder_layouts()) {
    formats.push_back({layout.model_type, [&layout](const CheckpointSource& source) {
                         return load_encoder(layout, source);
                       }});
  }
  return formats;
}

}  // namespace attnscope
