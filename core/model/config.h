// What a model is: sizes, blocks, and per layer the head groups with their variant and encoding.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/variant.h"

namespace attnscope {

// Neighbouring heads of one layer that share a variant, an encoding and their parameters. Where
// heads share keys and values, a group has all heads of each key-value head or lies within one.
// Encodings of the
// input (sinusoidal, learned) act once, on the embeddings, and so on every head: a model that has
// one names it in all of its groups.
struct HeadGroup {
  Index heads = 0;
  Choice variant = default_variant();
  Choice encoding = default_encoding();
  bool operator==(const HeadGroup&) const = default;
};

enum class Norm { LayerNorm, RmsNorm };
enum class Activation { Relu, Gelu, GeluTanh, Silu };

struct ModelConfig {
  Index vocabulary = 0, context = 0;  // tokens; the longest sequence it was trained on
  Index width = 0;                    // d
  Index layers = 0, heads = 0;
  Index kv_heads = 0;   // heads a multiple of it; query head a uses a / (heads / kv_heads)
  Index head_size = 0;  // d_k = d_v
  Index hidden = 0;     // of the feed-forward; 0: attention only
  Norm norm = Norm::RmsNorm;
  double norm_epsilon = 1e-5;
  bool pre_norm = true;  // else each norm comes after its residual sum, and none at the end
  Activation activation = Activation::Silu;
  bool gated = true;  // activation(x w_gate) * (x w_in): SwiGLU and the like
  bool attention_biases = false, feed_forward_biases = false;
  bool tied_output = true;  // logits = x embed.weight^T
  bool causal = true;
  double dropout = 0;  // of embeddings and of what each block adds, in training
  std::vector<std::vector<HeadGroup>> groups;  // [layers][groups of the layer]
  bool operator==(const ModelConfig&) const = default;
};

// One group of all heads in every layer.
std::vector<std::vector<HeadGroup>> uniform_groups(const ModelConfig& config, const Choice& variant,
                                                   const Choice& encoding);

// Where a head group stands in its layer.
struct HeadRange {
  Index first = 0, count = 0;               // heads
  Index first_key_head = 0, key_heads = 0;  // the key-value heads that they use
};
// Ranges of the groups of a layer.
std::vector<HeadRange> head_ranges(const ModelConfig& config, Index layer);
// The sizes that the Infos of a group see.
Dimensions group_dimensions(const ModelConfig& config, const HeadRange& range);

// The encoding of the input that all groups name, or null. InputError when only some do.
const Choice* input_encoding(const ModelConfig& config);

// InputError when sizes do not fit one another or a combination of variant and encoding cannot
// work; the message begins with `path`.
void check(const ModelConfig& config, std::string_view path);

// Strict: InputError "config.json: width: expected an integer from 1 to 65536, found \"x\"".
// Head groups are "variant" and "position" where all heads of all layers share them, otherwise
// "groups": per layer a list of {"heads": .., "variant": .., "position": ..}.
ModelConfig model_config_from_json(const nlohmann::json& object, std::string_view path);
nlohmann::json to_json(const ModelConfig& config);

}  // namespace attnscope
