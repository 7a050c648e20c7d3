// Configurations of small test models.
#pragma once

#include <memory>

#include "core/model/config.h"
#include "core/position/encoding.h"

namespace attnscope::testing {

// Full attention with the position encoding `encoding` in all layers; width = heads * head_size.
struct SmallConfig {
  Index vocabulary = 256, context = 32, layers = 1, heads = 2, head_size = 8, hidden = 16;
  std::string encoding = "rope";
};

inline ModelConfig small_config(const SmallConfig& size) {
  ModelConfig config;
  config.vocabulary = size.vocabulary;
  config.context = size.context;
  config.width = size.heads * size.head_size;
  config.layers = size.layers;
  config.heads = config.kv_heads = size.heads;
  config.head_size = size.head_size;
  config.hidden = size.hidden;
  const Choice position{size.encoding, default_values(encoding(size.encoding).parameters)};
  config.groups = uniform_groups(config, default_variant(), position);
  return config;
}

// Default configuration with a context of `context` tokens, for traces.
inline std::shared_ptr<const ModelConfig> config_of_context(Index context) {
  ModelConfig config;
  config.context = context;
  return std::make_shared<const ModelConfig>(config);
}

}  // namespace attnscope::testing
