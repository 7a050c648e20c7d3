// Nomic BERT (Nussbaum et al., 2024, arXiv:2402.01613): BERT with RoPE instead of learned
// positions, SwiGLU, and no biases except those of norms. Reads the names of the released files
// (n_embd, "encoder.layers.0.attn.Wqkv") and those of the Hugging Face libraries.
#include "core/base/strict_json.h"
#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/split.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

// Throws InputError if a setting differs from the released models.
void require_nomic_settings(JsonObject& object) {
  for (const char* key : {"prenorm", "qkv_proj_bias", "mlp_fc1_bias", "mlp_fc2_bias",
                          "rotary_emb_interleaved", "use_rms_norm", "causal"}) {
    require_flag(object, key, false);
  }
  if (object.number_or("rotary_emb_fraction", 1, 0, 1) != 1) {
    object.fail("rotary_emb_fraction", "1 (nothing else is supported)");
  }
  for (const char* key : {"rotary_scaling_factor", "rotary_emb_scale_base", "num_experts"}) {
    if (object.has(key)) object.fail(key, "nothing (not supported)");
  }
}

ModelConfig read_nomic_config(const Json& json, const std::string& path) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  const auto key = [&](const char* name, const char* released) {
    return object.has(name) ? name : object.has(released) ? released : name;
  };
  ModelConfig c;
  c.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  c.context =
      object.integer_or(key("max_position_embeddings", "n_positions"), 2048, 1, kMaxModelTokens);
  const char* const width = key("hidden_size", "n_embd");
  c.width = object.integer(width, 1, kMaxModelWidth);
  c.layers = object.integer(key("num_hidden_layers", "n_layer"), 1, 1024);
  const char* const heads = key("num_attention_heads", "n_head");
  c.heads = c.kv_heads = object.integer(heads, 1, 1024);
  if (c.width % c.heads != 0) object.fail(width, std::string("a multiple of ") + heads);
  c.head_size = object.integer_or("head_dim", c.width / c.heads, 1, kMaxModelWidth);
  c.hidden = object.integer(key("intermediate_size", "n_inner"), 1, 8 * kMaxModelWidth);
  c.activation = Activation::Silu;
  if (object.text_or("activation_function", "swiglu") != "swiglu") {
    object.fail("activation_function", "\"swiglu\" (nothing else is supported)");
  }
  if (object.has("hidden_act")) c.activation = hugging_face_activation(object, "hidden_act");
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or(key("layer_norm_eps", "layer_norm_epsilon"), 1e-12, 0, 1);
  c.pre_norm = c.causal = false;
  c.embedding.norm = true;
  c.embedding.types = object.integer_or("type_vocab_size", 2, 0, kMaxModelWidth);
  c.tied_output = object.flag_or("tie_word_embeddings", true);
  require_nomic_settings(object);
  refuse_quantisation(object);
  RopeSettings rope;
  rope.base = object.number_or("rotary_emb_base", 1000, 1e-3, 1e18);
  c.groups = uniform_groups(c, default_variant(), hugging_face_rope(object, c, rope));
  return c;
}

// Tensor names within a layer.
struct NomicNames {
  std::string layers, embedding_norm, q, k, v, o, attention_norm, gate, in, out, ffn_norm;
};
const NomicNames kNomicNames{
    "layers.",          "embeddings.LayerNorm", "self_attn.q_proj",         "self_attn.k_proj",
    "self_attn.v_proj", "self_attn.o_proj",     "post_attention_layernorm", "mlp.gate_proj",
    "mlp.up_proj",      "mlp.down_proj",        "post_mlp_layernorm"};
const NomicNames kReleasedNames{"encoder.layers.", "emb_ln",        "attn.q", "attn.k",
                                "attn.v",          "attn.out_proj", "norm1",  "mlp.fc12",
                                "mlp.fc11",        "mlp.fc2",       "norm2"};

class NomicReader {
 public:
  NomicReader(Model& model, const CheckpointSource& source)
      : model_(model),
        c_(model.config),
        place_(source.place),
        tensors_(source.tensors),
        reader_(tensors_, place_, c_),
        mover_(reader_, model) {}

  void read() {
    const bool plain = reader_.has("embeddings.word_embeddings.weight");
    const std::string prefix = plain                                        ? ""
                               : reader_.names_with_prefix("bert.").empty() ? "nomic_bert."
                                                                            : "bert.";
    const std::string table = prefix + "embeddings.word_embeddings.weight";
    const bool released = !reader_.names_with_prefix(prefix + kReleasedNames.layers).empty();
    const NomicNames& names = released ? kReleasedNames : kNomicNames;
    reader_.load(table, c_.vocabulary, c_.width, false, model_, "embed.weight");
    if (c_.embedding.types > 0) {
      mover_.plain(prefix + "embeddings.token_type_embeddings.weight", "embed.type",
                   {c_.embedding.types, c_.width});
    }
    mover_.norm(prefix + names.embedding_norm, "embed.norm", c_.width);
    for (Index n = 0; n < c_.layers; ++n) {
      read_layer(names, prefix + names.layers + std::to_string(n) + ".", layer_prefix(n));
    }
    if (c_.model_options.output_head) read_head(table);
    mover_.leave_out(prefix + "pooler.", "the pooler");
    mover_.finish({"classifier."});
  }

 private:
  void read_layer(const NomicNames& names, const std::string& from, const std::string& to) {
    const std::string fused = from + "attn.Wqkv.weight";
    const Index rows = c_.heads * c_.head_size;
    const std::string letters = "qkv";
    const std::string* const parts[] = {&names.q, &names.k, &names.v};
    if (tensors_.contains(fused)) reader_.expect_rows(fused, 3 * rows);
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (tensors_.contains(fused)) {
        add_part(tensors_, fused, from + *parts[i] + ".weight", c_.width,
                 {static_cast<Index>(i) * rows, rows}, {rows, c_.width}, place_);
      }
      mover_.linear(from + *parts[i], to + "attn.", letters.substr(i, 1), c_.width, rows, false);
    }
    reader_.ignore(fused);
    mover_.linear(from + names.o, to + "attn.", "o", rows, c_.width, false);
    mover_.norm(from + names.attention_norm, to + "attn_norm", c_.width);
    mover_.linear(from + names.gate, to + "ffn.", "_gate", c_.width, c_.hidden, false);
    mover_.linear(from + names.in, to + "ffn.", "_in", c_.width, c_.hidden, false);
    mover_.linear(from + names.out, to + "ffn.", "_out", c_.hidden, c_.width, false);
    mover_.norm(from + names.ffn_norm, to + "ffn_norm", c_.width);
  }

  void read_head(const std::string& table) {
    const std::string from = "cls.predictions.";
    mover_.dense(from + "transform.dense", "output.transform", c_.width, c_.width);
    mover_.norm(from + "transform.layer_norm", "output.transform.norm", c_.width);
    mover_.output(from + "decoder.weight", table);
    mover_.output_bias({from + "bias", from + "decoder.bias"}, {c_.vocabulary});
  }

  Model& model_;
  const ModelConfig& c_;
  const std::string& place_;
  StoredTensors tensors_;  // copy with parts of fused matrices
  TensorReader reader_;
  WeightMover mover_;
};

Model load_nomic_bert(const CheckpointSource& source) {
  Model model;
  ModelConfig& c = model.config;
  c = read_nomic_config(source.config, source.config_place);
  const bool has_head = source.tensors.contains("cls.predictions.transform.dense.weight");
  c.model_options.output_head = c.head.bias = c.head.transform = has_head;
  c.head.activation = c.activation;
  if (has_head) {
    set_masked_prediction(c, source);
  } else {
    c.tied_output = true;
    c.head = {};
  }
  check(c, source.config_place);
  NomicReader(model, source).read();
  return model;
}

}  // namespace

CheckpointFormat nomic_bert_format() {
  return {"nomic_bert", load_nomic_bert};
}

}  // namespace attnscope
