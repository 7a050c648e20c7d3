// Common parts of decoder configs.
#include <algorithm>
#include <cmath>

#include "core/checkpoint/decoder_layout.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {

ModelConfig decoder_sizes(JsonObject& object, const SizeNames& names) {
  ModelConfig config;
  config.vocabulary = object.integer("vocab_size", 1, kMaxModelTokens);
  config.context = object.integer_or(names.context, names.default_context, 1, kMaxModelTokens);
  config.width = object.integer(names.width, 1, kMaxModelWidth);
  config.layers = object.integer(names.layers, 1, 1024);
  config.heads = object.integer(names.heads, 1, 1024);
  config.kv_heads = config.heads;
  if (names.kv_heads) config.kv_heads = object.integer_or(names.kv_heads, config.heads, 1, 1024);
  if (config.heads % config.kv_heads != 0) {
    object.fail(names.heads, std::string("a multiple of ") + names.kv_heads + " " +
                                 std::to_string(config.kv_heads));
  }
  config.head_size = object.integer_or("head_dim", std::max<Index>(config.width / config.heads, 1),
                                       1, kMaxModelWidth);
  constexpr Index kMaxHidden = 8 * kMaxModelWidth;
  config.hidden = names.hidden_is_optional
                      ? object.integer_or(names.hidden, 4 * config.width, 1, kMaxHidden)
                      : object.integer(names.hidden, 1, kMaxHidden);
  config.norm = Norm::RmsNorm;
  config.norm_epsilon = object.number_or(names.epsilon, names.default_epsilon, 0, 1);
  config.activation = hugging_face_activation(object, names.activation, names.default_activation);
  config.tied_output = object.flag_or("tie_word_embeddings", names.tied_by_default);
  refuse_quantisation(object);
  return config;
}

ModelConfig layer_norm_sizes(JsonObject& object, const SizeNames& names) {
  ModelConfig config = decoder_sizes(object, names);
  config.norm = Norm::LayerNorm;
  config.gated = false;
  config.attention_biases = config.feed_forward_biases = true;
  return config;
}

namespace {

// YaRN's scale of queries and keys for a context stretched by `factor`.
double yarn_magnitude(double factor, double magnitude) {
  return factor <= 1 ? 1 : 0.1 * magnitude * std::log(factor) + 1;
}

double yarn_gain(JsonObject& scaling, double factor) {
  if (scaling.has("attention_factor")) return scaling.number("attention_factor", 1e-6, 1e6);
  const double scale = scaling.number_or("mscale", 0, 0, 1e6);
  const double all = scaling.number_or("mscale_all_dim", 0, 0, 1e6);
  if (scale > 0 && all > 0) return yarn_magnitude(factor, scale) / yarn_magnitude(factor, all);
  return yarn_magnitude(factor, 1);
}

double longrope_gain(JsonObject& scaling, double factor, double original) {
  if (scaling.has("attention_factor")) return scaling.number("attention_factor", 1e-6, 1e6);
  return factor <= 1 || original <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(original));
}

std::vector<double> read_numbers(JsonObject& object, const char* key) {
  std::vector<double> factors;
  for (const Json& number : object.array(key)) {
    if (!number.is_number()) object.fail(key, "a list of numbers");
    factors.push_back(number.get<double>());
  }
  return factors;
}

// Reads a RoPE scaling into the parameters of the encoding `rope`.
void read_scaling(JsonObject& config, JsonObject& scaling, const std::string& type_key,
                  const ModelConfig& model, Values& rope) {
  std::string type = scaling.text_or(type_key, "default");
  if (type == "su") type = "longrope";  // former name of "longrope"
  if (type == "default") return;
  const std::vector<std::string> known{"linear", "llama3", "dynamic", "yarn", "longrope"};
  if (std::ranges::find(known, type) == known.end()) {
    scaling.fail(type_key,
                 "\"default\", \"linear\", \"llama3\", \"dynamic\", \"yarn\" or \"longrope\"");
  }
  const bool has_default_factor = type == "yarn" || type == "longrope";
  Index original = model.context;
  if (type != "dynamic") {
    const char* const key = "original_max_position_embeddings";
    const Index min_length = type == "longrope" ? 2 : 1;  // LongRoPE divides by log(original)
    original = scaling.integer_or(key, original, min_length, kMaxModelTokens);
    original = config.integer_or(key, original, min_length, kMaxModelTokens);  // Phi 3
  }
  const double stretched = static_cast<double>(model.context) / static_cast<double>(original);
  const double factor = has_default_factor ? scaling.number_or("factor", stretched, 1e-6, 1e6)
                                           : scaling.number("factor", 1e-6, 1e6);
  rope.set("factor", factor);
  if (type == "linear") return;
  rope.set("scaling", type);
  rope.set("original", original);
  if (type == "llama3") {
    rope.set("slow_turns", scaling.number("low_freq_factor", 1e-6, 1e6));
    rope.set("fast_turns", scaling.number("high_freq_factor", 1e-6, 1e6));
  } else if (type == "yarn") {
    rope.set("slow_turns", scaling.number_or("beta_slow", 1, 1e-6, 1e6));
    rope.set("fast_turns", scaling.number_or("beta_fast", 32, 1e-6, 1e6));
    rope.set("whole_pairs", scaling.flag_or("truncate", true));
    rope.set("gain", yarn_gain(scaling, factor));
  } else if (type == "longrope") {
    rope.set("short_factors", read_numbers(scaling, "short_factor"));
    rope.set("long_factors", read_numbers(scaling, "long_factor"));
    rope.set("gain", longrope_gain(scaling, factor, static_cast<double>(original)));
  }
}

}  // namespace

Choice hugging_face_rope(JsonObject& config, const ModelConfig& model,
                         const RopeSettings& settings) {
  Choice rope{"rope", default_values(encoding("rope").parameters)};
  rope.values.set("style", std::string(settings.interleaved ? "interleaved" : "half"));
  double base = settings.base;
  if (settings.scaled) base = config.number_or("rope_theta", base, 1e-3, 1e18);
  double share = settings.share;
  const auto read_share = [&](JsonObject& object) {
    if (settings.partial) share = object.number_or("partial_rotary_factor", share, 0, 1);
  };
  read_share(config);
  share = config.number_or("rotary_share", share, 0, 1);
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (!config.has(key)) continue;
    Json entry = without_nulls(config.any(key));
    std::string path = config.path_of(key);
    if (settings.layer_type && entry.is_object() && entry.contains(settings.layer_type)) {
      path += std::string(".") + settings.layer_type;
      const Json type_settings = entry[settings.layer_type];
      entry = without_nulls(type_settings);
    } else if (!settings.scaled) {
      continue;  // rope_scaling concerns other layers only
    }
    JsonObject scaling(entry, path);
    base = scaling.number_or("rope_theta", base, 1e-3, 1e18);
    read_share(scaling);
    read_scaling(config, scaling, scaling.has("rope_type") ? "rope_type" : "type", model,
                 rope.values);
  }
  rope.values.set("base", base);
  rope.values.set("dims", static_cast<Index>(static_cast<double>(model.head_size) * share + 1e-9));
  return rope;
}

Choice window_variant(Index window) {
  Choice local{"local", default_values(variant("local").parameters)};
  local.values.set("window", window - 1);
  return local;
}

Choice configured_window_variant(JsonObject& config) {
  if (!config.has("sliding_window")) return default_variant();
  return window_variant(config.integer("sliding_window", 1, kMaxModelTokens));
}

std::vector<bool> sliding_layers(JsonObject& config, const ModelConfig& model,
                                 bool (*fallback)(Index layer, Index every), Index every) {
  std::vector<bool> slides;
  if (!config.has("layer_types")) {
    for (Index layer = 0; layer < model.layers; ++layer) slides.push_back(fallback(layer, every));
    return slides;
  }
  for (const Json& type : config.array("layer_types")) {
    const std::string name = type.is_string() ? type.get<std::string>() : "";
    if (name != "sliding_attention" && name != "full_attention") {
      config.fail("layer_types", "\"sliding_attention\" or \"full_attention\" for each layer");
    }
    slides.push_back(name == "sliding_attention");
  }
  if (static_cast<Index>(slides.size()) != model.layers) {
    config.fail("layer_types", "one for each of " + std::to_string(model.layers) + " layers");
  }
  return slides;
}

void set_groups(ModelConfig& model, const std::vector<bool>& slides, const Choice& window,
                const Choice& position) {
  model.groups = uniform_groups(model, default_variant(), position);
  for (std::size_t layer = 0; layer < slides.size(); ++layer) {
    if (slides[layer]) model.groups[layer][0].variant = window;
  }
}

void set_groups(ModelConfig& model, const std::vector<bool>& slides, const Choice& window,
                const Choice& position, const Choice& window_position) {
  set_groups(model, slides, window, position);
  for (std::size_t layer = 0; layer < slides.size(); ++layer) {
    if (slides[layer]) model.groups[layer][0].encoding = window_position;
  }
}

SizeNames gpt2_size_names() {
  SizeNames names;
  names.context = "n_positions";
  names.width = "n_embd";
  names.layers = "n_layer";
  names.heads = "n_head";
  names.kv_heads = nullptr;
  names.hidden = "n_inner";
  names.hidden_is_optional = true;
  names.activation = "activation_function";
  names.epsilon = "layer_norm_epsilon";
  names.default_epsilon = 1e-5;
  return names;
}

DecoderNames gpt2_names() {
  DecoderNames names;
  names.prefixes = {"transformer.", ""};
  names.embedding = "wte";
  names.positions = "wpe";
  names.layers = "h.";
  names.final_norm = "ln_f";
  names.attn_norm = "ln_1";
  names.ffn_norm = "ln_2";
  names.in = "mlp.c_fc";
  names.out = "mlp.c_proj";
  return names;
}

}  // namespace attnscope
