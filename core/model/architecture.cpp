#include "core/model/architecture.h"

#include "core/base/find_by_id.h"

namespace attnscope {

const std::vector<Architecture>& architectures() {
  static const std::vector<Architecture> list{
      decoder_architecture(),       encoder_decoder_architecture(),
      universal_architecture(),     universal_encoder_decoder_architecture(),
      rnn_attention_architecture(), recurrent_architecture(), trajectory_architecture()};
  return list;
}

const Architecture& architecture(std::string_view id) {
  return find_by_id(architectures(), id, "architecture.type");
}

Parameter start_parameter() {
  return {.key = "start",
          .symbol = "",
          .label = "Start",
          .help = "Id that every target begins with.",
          .required = true,
          .initial = Index{0},
          .slider = {.max = 256}};
}

std::string start_refusal(const ModelConfig& config) {
  const Index start = config.architecture.values.integer("start");
  if (start < config.vocabulary) return "";
  return "architecture.start: expected an id below " + std::to_string(config.vocabulary) +
         ", found " + std::to_string(start);
}

}  // namespace attnscope
