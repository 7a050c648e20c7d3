// What a model is: sizes, blocks, and per layer the head groups with their variant and encoding.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/attention/variant.h"

namespace attnscope {

// Heads of one layer that share a variant, an encoding and their parameters.
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
  Index layers = 0, heads = 0, kv_heads = 0;
  Index head_size = 0;  // d_k = d_v
  Index hidden = 0;     // of the feed-forward; 0: attention only
  Norm norm = Norm::RmsNorm;
  double norm_epsilon = 1e-5;
  bool pre_norm = true;
  Activation activation = Activation::Silu;
  bool gated = true;  // SwiGLU and the like
  bool biases = false;
  bool tied_output = true;
  bool causal = true;
  double dropout = 0;
  std::vector<std::vector<HeadGroup>> groups;  // [layers][groups of the layer]
  bool operator==(const ModelConfig&) const = default;
};

// Strict: InputError "config.json: width: expected an integer of at least 1, found \"x\"".
ModelConfig model_config_from_json(const nlohmann::json& object);
nlohmann::json to_json(const ModelConfig& config);

}  // namespace attnscope
