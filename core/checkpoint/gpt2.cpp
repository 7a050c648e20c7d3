// GPT-2 (Radford et al., 2019) as the Hugging Face libraries store it: matrices [in, out], q, k
// and v fused, learned positions, layer norm, biases everywhere.
#include "core/checkpoint/gpt2.h"

#include <cmath>

#include "core/base/json.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

ModelConfig read_gpt2_config(const Json& json, const std::string& path) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  ModelConfig config;
  config.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  config.context = object.integer("n_positions", 1, kMaxModelTokens);
  config.width = object.integer("n_embd", 1, kMaxModelWidth);
  config.layers = object.integer("n_layer", 1, 1024);
  config.heads = object.integer("n_head", 1, 1024);
  config.kv_heads = config.heads;
  if (config.width % config.heads != 0) object.fail("n_embd", "a multiple of n_head");
  config.head_size = config.width / config.heads;
  config.hidden = object.integer_or("n_inner", 4 * config.width, 1, 8 * kMaxModelWidth);
  config.norm = Norm::LayerNorm;
  config.norm_epsilon = object.number_or("layer_norm_epsilon", 1e-5, 0, 1);
  config.activation = object.has("activation_function")
                          ? hugging_face_activation(object, "activation_function")
                          : Activation::GeluTanh;
  config.gated = false;
  config.attention_biases = config.feed_forward_biases = true;
  config.tied_output = object.flag_or("tie_word_embeddings", true);
  require_flag(object, "add_cross_attention", false);
  refuse_quantisation(object);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  config.groups = uniform_groups(config, default_variant(), learned);
  check(config, path);
  return config;
}

// Score scale relative to 1/sqrt(d_k), applied to the queries.
struct Scaling {
  bool by_head_size = true;  // scale_attn_weights
  bool by_layer = false;     // scale_attn_by_inverse_layer_idx
  // Factor by which the queries of `layer` are multiplied.
  float factor(const ModelConfig& config, Index layer) const {
    const double head_factor = by_head_size ? 1 : std::sqrt(static_cast<double>(config.head_size));
    return static_cast<float>(head_factor / (by_layer ? static_cast<double>(layer + 1) : 1));
  }
};

Scaling read_scaling(const Json& json, const std::string& path) {
  const Json non_null = without_nulls(json);
  JsonObject object(non_null, path);
  return {object.flag_or("scale_attn_weights", true),
          object.flag_or("scale_attn_by_inverse_layer_idx", false)};
}

void multiply(Tensor& values, float factor) {
  if (factor == 1) return;
  for (float& x : values) x *= factor;
}

// Columns [first, first + count) of a matrix or vector.
Tensor columns(const Tensor& matrix, Index first, Index count) {
  const Index width = matrix.dim(-1), rows = matrix.size() / width;
  Tensor part(matrix.rank() == 1 ? Shape{count} : Shape{rows, count});
  for (Index r = 0; r < rows; ++r) {
    std::copy_n(matrix.data() + r * width + first, count, part.data() + r * count);
  }
  return part;
}

}  // namespace

void read_gpt2_layer(TensorReader& reader, Model& model, const std::string& from,
                     const std::string& to, float query_factor) {
  const ModelConfig& c = model.config;
  const auto keep = [&](const std::string& name, Tensor values) {
    model.weights.emplace(to + name, Var(std::move(values)));
  };
  const auto linear = [&](const std::string& theirs, const std::string& folder,
                          const std::string& letter, Index in, Index out) {
    reader.load(from + theirs + ".weight", in, out, false, model, to + folder + "w" + letter);
    keep(folder + "b" + letter, reader.take(from + theirs + ".bias", {out}));
  };
  const auto norm = [&](const std::string& theirs, const std::string& ours) {
    keep(ours + ".weight", reader.take(from + theirs + ".weight", {c.width}));
    keep(ours + ".bias", reader.take(from + theirs + ".bias", {c.width}));
  };
  norm("ln_1", "attn_norm");
  const std::string fused = from + "attn.c_attn.weight";
  const auto narrow =
      query_factor == 1 ? reader.take_narrow(fused, c.width, 3 * c.width) : std::nullopt;
  const Tensor weight = narrow ? Tensor() : reader.take(fused, {c.width, 3 * c.width});
  const Tensor bias = reader.take(from + "attn.c_attn.bias", {3 * c.width});
  const std::string letters = "qkv";
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Index first = static_cast<Index>(i) * c.width;
    const std::string name = std::string("attn.w") + letters[i];
    const float factor = letters[i] == 'q' ? query_factor : 1;
    Tensor offset = columns(bias, first, c.width);
    multiply(offset, factor);
    if (narrow) {
      model.narrow.emplace(to + name, narrow->column_range(first, c.width));
    } else {
      Tensor matrix = columns(weight, first, c.width);
      multiply(matrix, factor);
      keep(name, std::move(matrix));
    }
    keep(std::string("attn.b") + letters[i], std::move(offset));
  }
  linear("attn.c_proj", "attn.", "o", c.width, c.width);
  norm("ln_2", "ffn_norm");
  linear("mlp.c_fc", "ffn.", "_in", c.width, c.hidden);
  linear("mlp.c_proj", "ffn.", "_out", c.hidden, c.width);
  reader.ignore(from + "attn.bias");  // the causal mask, in older versions
  reader.ignore(from + "attn.masked_bias");
}

namespace {

Model load_gpt2(const CheckpointSource& source) {
  Model model;
  const std::string& path = source.config_place;
  model.config = read_gpt2_config(source.config, path);
  find_output_head(source, "lm_head.weight", model);
  const Scaling scaling = read_scaling(source.config, path);
  TensorReader reader(source, model.config);
  const ModelConfig& c = model.config;
  const std::string prefix = reader.has("wte.weight") ? "" : "transformer.";
  const auto keep = [&](const std::string& ours, const std::string& theirs, const Shape& shape) {
    model.weights.emplace(ours, Var(reader.take(prefix + theirs, shape)));
  };
  read_embedding(reader, model, prefix + "wte.weight");
  keep("embed.pos.embedding", "wpe.weight", {c.context, c.width});
  for (Index layer = 0; layer < c.layers; ++layer) {
    read_gpt2_layer(reader, model, prefix + "h." + std::to_string(layer) + ".", layer_prefix(layer),
                    scaling.factor(c, layer));
  }
  keep("final_norm.weight", "ln_f.weight", {c.width});
  keep("final_norm.bias", "ln_f.bias", {c.width});
  if (c.model_options.output_head) read_output_head(reader, model, prefix + "wte.weight");
  WeightMover(reader, model)
      .finish({"score.", "multiple_choice_head.", "classifier.", "qa_outputs."});
  return model;
}

}  // namespace

CheckpointFormat gpt2_format() {
  return {"gpt2", load_gpt2};
}

}  // namespace attnscope
