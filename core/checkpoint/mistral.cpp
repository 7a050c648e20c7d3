// Mistral (Jiang et al., 2023, arXiv:2310.06825): Llama with sliding windows; and Mixtral (Jiang et
// al., 2024, arXiv:2401.04088): Mistral with a mixture of experts.
#include "core/checkpoint/decoder_layout.h"

namespace attnscope {
namespace {

ModelConfig mistral_config(JsonObject& object) {
  ModelConfig config = decoder_sizes(object);
  const Choice window = configured_window_variant(object);
  config.groups = uniform_groups(config, window, hugging_face_rope(object, config));
  return config;
}

DecoderLayout read_mistral(JsonObject& object) {
  return {mistral_config(object), {}};
}

DecoderLayout read_mixtral(JsonObject& object) {
  DecoderLayout layout{mistral_config(object), {}};
  Experts& experts = layout.config.model_options.experts;
  experts.count = object.integer_or("num_local_experts", 8, 1, 4096);
  experts.chosen = object.integer_or("num_experts_per_tok", 2, 1, 4096);
  DecoderNames& names = layout.names;
  names.router = "block_sparse_moe.gate";
  names.experts = "block_sparse_moe.experts.";
  names.expert_gate = "w1";
  names.expert_in = "w3";
  names.expert_out = "w2";
  return layout;
}

}  // namespace

CheckpointFormat mistral_format() {
  return decoder_format("mistral", read_mistral);
}

CheckpointFormat mixtral_format() {
  return decoder_format("mixtral", read_mixtral);
}

}  // namespace attnscope
