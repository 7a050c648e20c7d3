// GPT-Neo (Black et al., 2021): GPT-2 with alternating full and windowed attention, unscaled scores
// and matrices [out, in].
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

// True for layers with a window. [[["global", "local"], 12]] repeats the two kinds 12 times.
std::vector<bool> local_layers(JsonObject& object, const ModelConfig& config) {
  std::vector<bool> local;
  const auto add = [&](const Json& kind) {
    if (kind != "global" && kind != "local") {
      object.fail("attention_types", "\"global\" or \"local\" for each layer");
    }
    local.push_back(kind == "local");
  };
  if (object.has("attention_layers")) {
    for (const Json& kind : object.array("attention_layers")) add(kind);
  } else if (object.has("attention_types")) {
    for (const Json& entry : object.array("attention_types")) {
      const bool valid = entry.is_array() && entry.size() == 2 && entry[0].is_array() &&
                         entry[1].is_number_integer() && entry[1] >= 0 && entry[1] <= config.layers;
      if (!valid) object.fail("attention_types", "pairs of a list of kinds and a count");
      for (Index n = 0; n < entry[1].get<Index>(); ++n) {
        for (const Json& kind : entry[0]) add(kind);
      }
    }
  } else {
    for (Index layer = 0; layer < config.layers; ++layer) local.push_back(layer % 2 == 1);
  }
  if (static_cast<Index>(local.size()) != config.layers) {
    object.fail("attention_types", "kinds for " + std::to_string(config.layers) + " layers");
  }
  return local;
}

DecoderLayout read_gpt_neo(JsonObject& object) {
  SizeNames sizes;
  sizes.layers = "num_layers";
  sizes.heads = "num_heads";
  sizes.kv_heads = nullptr;
  sizes.hidden_is_optional = true;
  sizes.activation = "activation_function";
  sizes.default_activation = "gelu_new";
  sizes.epsilon = "layer_norm_epsilon";
  sizes.default_epsilon = 1e-5;
  sizes.tied_by_default = true;
  ModelConfig config = layer_norm_sizes(object, sizes);
  config.attention_biases = false;
  config.model_options.attention_output_bias = true;
  config.model_options.attention_scale = 1;
  const Index window = object.integer_or("window_size", 256, 1, kMaxModelTokens);
  const Choice learned{"learned", default_values(encoding("learned").parameters)};
  set_groups(config, local_layers(object, config), window_variant(window), learned);
  DecoderNames names = gpt2_names();
  names.q = "attn.attention.q_proj";
  names.k = "attn.attention.k_proj";
  names.v = "attn.attention.v_proj";
  names.o = "attn.attention.out_proj";
  names.ignored = {"attn.attention.bias", "attn.attention.masked_bias"};
  return {config, names};
}

}  // namespace

CheckpointFormat gpt_neo_format() {
  return decoder_format("gpt_neo", read_gpt_neo);
}

}  // namespace attnscope
