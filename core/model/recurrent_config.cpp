#include "core/model/recurrent_config.h"

namespace attnscope {

std::string recurrent_refusal(const ModelConfig& config) {
  const auto expected = [&](const char* value) {
    return std::string("architecture: expected ") + value + " for " + config.architecture.id +
           ", which has no transformer layers";
  };
  if (config.heads != 1) return expected("heads 1");
  if (config.hidden != 0) return expected("hidden 0");
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (group.variant != default_variant()) return expected("no variant");
      if (group.encoding != default_encoding()) return expected("no position");
    }
  }
  if (config.residual_connection != default_residual_connection()) return expected("no join");
  if (config.layers != 1) return expected("layers 1");
  return "";
}

void adapt_to_recurrent(ModelConfig& config) {
  config.layers = config.heads = config.kv_heads = 1;
  config.head_size = config.width;
  config.hidden = 0;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  config.residual_connection = default_residual_connection();
  config.exits.reset();
  config.segment = 0;
}

}  // namespace attnscope
