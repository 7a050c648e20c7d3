#include "core/checkpoint/hugging_face.h"

#include <nlohmann/json.hpp>

namespace attnscope {

nlohmann::json without_nulls(const nlohmann::json& config) {
  if (!config.is_object()) return config;
  nlohmann::json result = nlohmann::json::object();
  for (const auto& member : config.items()) {
    if (!member.value().is_null()) result[member.key()] = member.value();
  }
  return result;
}

Activation hugging_face_activation(JsonObject& config, std::string_view key) {
  static const std::vector<std::string> names = {"relu", "gelu", "gelu_new", "gelu_pytorch_tanh",
                                                 "silu", "swish"};
  static const std::vector<Activation> meanings = {Activation::Relu,     Activation::Gelu,
                                                   Activation::GeluTanh, Activation::GeluTanh,
                                                   Activation::Silu,     Activation::Silu};
  return meanings[config.choice(key, names)];
}

void require_flag(JsonObject& config, std::string_view key, bool supported) {
  if (config.flag_or(key, supported) != supported) {
    config.fail(key, std::string(supported ? "true" : "false") + " (nothing else is supported)");
  }
}

}  // namespace attnscope
