// Image encoders: ViT (Dosovitskiy et al., 2020, arXiv:2010.11929), DeiT (Touvron et al., 2020,
// arXiv:2012.12877), and both towers of CLIP (Radford et al., 2021, arXiv:2103.00020), as the
// Hugging Face libraries store them. Classification heads and the contrastive comparison of CLIP
// are omitted with a note. A folder with both towers loads the text tower; FOLDER/vision_model
// loads the image tower.
#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"
#include "core/checkpoint/weight_mover.h"
#include "core/model/input_kind.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr Index kMaxPixels = 4096;

// Reads height and width from one number or two.
std::pair<Index, Index> side_lengths(JsonObject& object, const char* key, Index fallback) {
  if (!object.has(key)) return {fallback, fallback};
  const Json& sizes = object.any(key);
  if (!sizes.is_array()) {
    const Index side = object.integer(key, 1, kMaxPixels);
    return {side, side};
  }
  const auto is_size = [](const Json& n) {
    return n.is_number_integer() && n >= 1 && n <= kMaxPixels;
  };
  if (sizes.size() != 2 || !is_size(sizes[0]) || !is_size(sizes[1])) {
    object.fail(key, "a number of pixels, or two");
  }
  return {sizes[0].get<Index>(), sizes[1].get<Index>()};
}

// Reads the colour normalisation of preprocessor_config.json.
void read_colours(const CheckpointSource& source, const std::vector<double>& mean,
                  const std::vector<double>& deviation, Values& image) {
  image.set("mean", mean);
  image.set("deviation", deviation);
  if (!source.read_image_processor) return;
  const auto processor = source.read_image_processor();
  if (!processor) return;
  const Json non_null = without_nulls(processor->json);
  JsonObject object(non_null, processor->place);
  if (!object.flag_or("do_normalize", true)) {
    image.set("mean", std::vector<double>(3, 0.0));
    image.set("deviation", std::vector<double>(3, 1.0));
    return;
  }
  const auto read_list = [&](const char* key, const char* ours) {
    if (!object.has(key)) return;
    std::vector<double> values;
    const Json& list = object.any(key);
    for (const Json& n : list.is_array() ? list : Json::array({list})) {
      if (!n.is_number()) object.fail(key, "numbers");
      values.push_back(n.get<double>());
    }
    image.set(ours, values);
  };
  read_list("image_mean", "mean");
  read_list("image_std", "deviation");
}

// Reads the common part of the configs of ViT and CLIP's image tower.
ModelConfig read_vision_config(JsonObject& object, const CheckpointSource& source, Index extra,
                               const std::vector<double>& mean,
                               const std::vector<double>& deviation) {
  ModelConfig c;
  c.width = object.integer_or("hidden_size", 768, 1, kMaxModelWidth);
  c.layers = object.integer_or("num_hidden_layers", 12, 1, 1024);
  c.heads = c.kv_heads = object.integer_or("num_attention_heads", 12, 1, 1024);
  if (c.width % c.heads != 0) object.fail("hidden_size", "a multiple of num_attention_heads");
  c.head_size = c.width / c.heads;
  c.hidden = object.integer_or("intermediate_size", 3072, 1, 8 * kMaxModelWidth);
  c.norm = Norm::LayerNorm;
  c.gated = c.causal = false;
  c.attention_biases = c.feed_forward_biases = true;
  c.model_options.output_head = false;
  if (object.integer_or("num_channels", 3, 1, 1024) != 3) {
    object.fail("num_channels", "3 (nothing else is supported)");
  }
  const auto [height, width] = side_lengths(object, "image_size", 224);
  const auto [patch, patch_width] = side_lengths(object, "patch_size", 16);
  if (patch != patch_width) object.fail("patch_size", "square patches (nothing else is supported)");
  if (height % patch != 0 || width % patch != 0)
    object.fail("image_size", "a multiple of patch_size");
  c.input = {"patches", default_values(input_kind("patches").parameters)};
  Values& image = c.input.values;
  image.set("width", width);
  image.set("height", height);
  image.set("patch", patch);
  image.set("extra", extra);
  read_colours(source, mean, deviation, image);
  c.vocabulary = extra + 1;
  c.context = extra + (height / patch) * (width / patch);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  c.groups = uniform_groups(c, default_variant(), learned);
  return c;
}

// Sets embed.weight: a row for each extra token, then a row with the bias of the patches.
void set_extra_tokens(WeightMover& mover, const std::vector<std::string>& extra, const Shape& shape,
                      const std::string& bias) {
  const ModelConfig& c = mover.model().config;
  Tensor table = Tensor::zeros({c.vocabulary, c.width});  // the last row stays zero without a bias
  Index row = 0;
  for (const std::string& name : extra) {
    const Tensor vector = mover.reader().take(name, shape);
    std::copy_n(vector.data(), c.width, table.data() + c.width * row++);
  }
  if (!bias.empty()) {
    const Tensor vector = mover.reader().take(bias, {c.width});
    std::copy_n(vector.data(), c.width, table.data() + c.width * row);
  }
  mover.model().weights.emplace("embed.weight", Var(table));
}

// Moves the patch projection: [d, colours, rows, columns] -> [colours rows columns, d].
void move_patches(WeightMover& mover, const std::string& name) {
  const ModelConfig& c = mover.model().config;
  const Index side = c.input.values.integer("patch");
  const Tensor kernel = mover.reader().take(name, {c.width, 3, side, side});
  const Index numbers = 3 * side * side;
  Tensor transposed({numbers, c.width});
  for (Index d = 0; d < c.width; ++d) {
    for (Index n = 0; n < numbers; ++n) transposed(n, d) = kernel[d * numbers + n];
  }
  mover.model().weights.emplace("embed.patch", Var(transposed));
}

// ---- ViT, DeiT

Model load_vit(bool distilled, const CheckpointSource& source) {
  Model model;
  const std::string& path = source.config_place;
  const Json non_null = without_nulls(source.config);
  JsonObject object(non_null, path);
  const std::vector<double> half(3, 0.5);
  ModelConfig& c = model.config;
  c = distilled
          ? read_vision_config(object, source, 2, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225})
          : read_vision_config(object, source, 1, half, half);
  c.activation =
      object.has("hidden_act") ? hugging_face_activation(object, "hidden_act") : Activation::Gelu;
  c.norm_epsilon = object.number_or("layer_norm_eps", 1e-12, 0, 1);
  const bool biased = object.flag_or("qkv_bias", true);
  refuse_quantisation(object);
  check(c, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  const std::string type = distilled ? "deit." : "vit.";
  const std::string prefix = reader.has("embeddings.cls_token") ? "" : type;
  std::vector<std::string> extra{prefix + "embeddings.cls_token"};
  if (distilled) extra.push_back(prefix + "embeddings.distillation_token");
  const std::string patches = prefix + "embeddings.patch_embeddings.projection.";
  set_extra_tokens(mover, extra, {1, 1, c.width}, patches + "bias");
  move_patches(mover, patches + "weight");
  model.weights.emplace(
      "embed.pos.embedding",
      Var(reader.take(prefix + "embeddings.position_embeddings", {1, c.context, c.width})
              .reshaped({c.context, c.width})));
  for (Index n = 0; n < c.layers; ++n) {
    const std::string from = prefix + "encoder.layer." + std::to_string(n) + ".",
                      to = layer_prefix(n), attention = from + "attention.attention.";
    mover.norm(from + "layernorm_before", to + "attn_norm", c.width);
    for (const auto& [letter, name] : {std::pair{"q", "query"}, {"k", "key"}, {"v", "value"}}) {
      mover.linear(attention + name, to + "attn.", letter, c.width, c.width, biased);
      if (!biased) {
        model.weights.emplace(to + "attn.b" + letter, Var(Tensor::zeros({c.width})));
      }
    }
    mover.linear(from + "attention.output.dense", to + "attn.", "o", c.width, c.width, true);
    mover.norm(from + "layernorm_after", to + "ffn_norm", c.width);
    mover.linear(from + "intermediate.dense", to + "ffn.", "_in", c.width, c.hidden, true);
    mover.linear(from + "output.dense", to + "ffn.", "_out", c.hidden, c.width, true);
  }
  mover.norm(prefix + "layernorm", "final_norm", c.width);
  reader.ignore(prefix + "embeddings.mask_token");  // used in training only
  mover.leave_out(prefix + "pooler.", "the pooler");
  for (const char* name : {"classifier.", "cls_classifier.", "distillation_classifier."}) {
    mover.leave_out(name, "a classifier");
  }
  mover.leave_out("decoder.", "the decoder of masked patches");
  reader.finish();
  return model;
}

// ---- CLIP

// Moves the layers of either tower.
void move_clip_layers(WeightMover& mover, const std::string& prefix) {
  const ModelConfig& c = mover.model().config;
  for (Index n = 0; n < c.layers; ++n) {
    const std::string from = prefix + "encoder.layers." + std::to_string(n) + ".",
                      to = layer_prefix(n), attention = from + "self_attn.";
    mover.norm(from + "layer_norm1", to + "attn_norm", c.width);
    mover.linear(attention + "q_proj", to + "attn.", "q", c.width, c.width, true);
    mover.linear(attention + "k_proj", to + "attn.", "k", c.width, c.width, true);
    mover.linear(attention + "v_proj", to + "attn.", "v", c.width, c.width, true);
    mover.linear(attention + "out_proj", to + "attn.", "o", c.width, c.width, true);
    mover.norm(from + "layer_norm2", to + "ffn_norm", c.width);
    mover.linear(from + "mlp.fc1", to + "ffn.", "_in", c.width, c.hidden, true);
    mover.linear(from + "mlp.fc2", to + "ffn.", "_out", c.hidden, c.width, true);
  }
  mover.reader().ignore(prefix + "embeddings.position_ids");
}

Activation clip_activation(JsonObject& object) {
  return object.has("hidden_act") ? hugging_face_activation(object, "hidden_act")
                                  : Activation::QuickGelu;
}

Model load_clip_vision(const Json& tower_config, const std::string& path,
                       const CheckpointSource& source, const std::string& prefix) {
  Model model;
  const Json non_null = without_nulls(tower_config);
  JsonObject object(non_null, path);
  ModelConfig& c = model.config;
  c = read_vision_config(object, source, 1, {0.48145466, 0.4578275, 0.40821073},
                         {0.26862954, 0.26130258, 0.27577711});
  c.activation = clip_activation(object);
  c.norm_epsilon = object.number_or("layer_norm_eps", 1e-5, 0, 1);
  c.embedding.norm = true;
  refuse_quantisation(object);
  check(c, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  set_extra_tokens(mover, {prefix + "embeddings.class_embedding"}, {c.width}, "");
  move_patches(mover, prefix + "embeddings.patch_embedding.weight");
  mover.plain(prefix + "embeddings.position_embedding.weight", "embed.pos.embedding",
              {c.context, c.width});
  mover.norm(prefix + "pre_layrnorm", "embed.norm", c.width);
  move_clip_layers(mover, prefix);
  mover.norm(prefix + "post_layernorm", "final_norm", c.width);
  mover.leave_out("text_model.", "the text tower");
  mover.leave_out("text_projection.", "the projection of the text tower");
  mover.leave_out("visual_projection.", "the projection to the joint embedding");
  mover.leave_out("classifier.", "a classifier");
  reader.ignore("logit_scale");
  reader.finish();
  return model;
}

Model load_clip_text(const Json& tower_config, const std::string& path,
                     const CheckpointSource& source, const std::string& prefix) {
  Model model;
  const Json non_null = without_nulls(tower_config);
  JsonObject object(non_null, path);
  ModelConfig& c = model.config;
  c.vocabulary = object.integer_or("vocab_size", 49408, 1, kMaxModelTokens);
  c.context = object.integer_or("max_position_embeddings", 77, 1, kMaxModelTokens);
  c.width = object.integer_or("hidden_size", 512, 1, kMaxModelWidth);
  c.layers = object.integer_or("num_hidden_layers", 12, 1, 1024);
  c.heads = c.kv_heads = object.integer_or("num_attention_heads", 8, 1, 1024);
  if (c.width % c.heads != 0) object.fail("hidden_size", "a multiple of num_attention_heads");
  c.head_size = c.width / c.heads;
  c.hidden = object.integer_or("intermediate_size", 2048, 1, 8 * kMaxModelWidth);
  c.norm = Norm::LayerNorm;
  c.norm_epsilon = object.number_or("layer_norm_eps", 1e-5, 0, 1);
  c.activation = clip_activation(object);
  c.gated = false;
  c.attention_biases = c.feed_forward_biases = true;
  c.model_options.output_head = false;
  refuse_quantisation(object);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  c.groups = uniform_groups(c, default_variant(), learned);
  check(c, path);
  TensorReader reader(source, c);
  WeightMover mover(reader, model);
  reader.load(prefix + "embeddings.token_embedding.weight", c.vocabulary, c.width, false, model,
              "embed.weight");
  mover.plain(prefix + "embeddings.position_embedding.weight", "embed.pos.embedding",
              {c.context, c.width});
  move_clip_layers(mover, prefix);
  mover.norm(prefix + "final_layer_norm", "final_norm", c.width);
  mover.leave_out("vision_model.", "the image tower");
  mover.leave_out("visual_projection.", "the projection of the image tower");
  mover.leave_out("text_projection.", "the projection to the joint embedding");
  reader.ignore("logit_scale");
  reader.finish();
  return model;
}

using ClipLoader = Model (*)(const Json&, const std::string&, const CheckpointSource&,
                             const std::string&);

// In a folder with one tower, config.json describes the tower; otherwise, its member `config` does.
Model load_clip_tower(ClipLoader load, const char* tower, const char* config,
                      const CheckpointSource& source) {
  const Json& json = source.config;
  const std::string& path = source.config_place;
  const std::string prefix = std::string(tower) + ".";
  const auto has_tensors = [&](std::string_view start) {
    return std::ranges::any_of(source.tensors,
                               [&](const auto& tensor) { return tensor.first.starts_with(start); });
  };
  const bool unprefixed = !has_tensors(prefix);
  if (unprefixed && tower == std::string_view("text_model") && has_tensors("vision_model.")) {
    const std::string folder = std::filesystem::path(path).parent_path().string();
    throw InputError(path + ": expected a text tower, found only an image tower: open " + folder +
                     "/vision_model");
  }
  const bool nested = json.contains(config) && json[config].is_object();
  return load(nested ? json[config] : json, nested ? path + ": " + config : path, source,
              unprefixed ? "" : prefix);
}

}  // namespace

std::vector<CheckpointFormat> vision_formats() {
  const auto vit = [](bool distilled) {
    return [distilled](const CheckpointSource& source) { return load_vit(distilled, source); };
  };
  const auto clip = [](ClipLoader load, const char* tower, const char* config) {
    return [=](const CheckpointSource& source) {
      return load_clip_tower(load, tower, config, source);
    };
  };
  return {{"vit", vit(false), "image"},
          {"deit", vit(true), "image"},
          {"clip", clip(load_clip_text, "text_model", "text_config")},
          {"clip_text_model", clip(load_clip_text, "text_model", "text_config")},
          {"clip_vision_model", clip(load_clip_vision, "vision_model", "vision_config"), "image"}};
}

}  // namespace attnscope
