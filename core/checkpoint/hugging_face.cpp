#include "core/checkpoint/hugging_face.h"

#include <algorithm>

namespace attnscope {

Json without_nulls(const Json& config) {
  if (!config.is_object()) return config;
  Json result = Json::object();
  for (const auto& [key, value] : config.items()) {
    if (!value.is_null()) result[key] = value;
  }
  return result;
}

namespace {

std::size_t activation_row(JsonObject& config, std::string_view key,
                           const std::vector<std::string>& names, std::string_view fallback) {
  if (fallback.empty()) return config.choice(key, names);
  const auto default_name = std::ranges::find(names, fallback);
  return config.choice_or(key, static_cast<std::size_t>(default_name - names.begin()), names);
}

}  // namespace

Activation hugging_face_activation(JsonObject& config, std::string_view key) {
  return hugging_face_activation(config, key, "");
}

Activation hugging_face_activation(JsonObject& config, std::string_view key,
                                   std::string_view fallback) {
  struct Row {
    const char* name;
    Activation activation;
  };
  static constexpr Row kRows[] = {
      {"relu", Activation::Relu},
      {"gelu", Activation::Gelu},
      {"gelu_python", Activation::Gelu},
      {"gelu_new", Activation::GeluTanh},
      {"gelu_fast", Activation::GeluTanh},
      {"gelu_pytorch_tanh", Activation::GeluTanh},
      {"silu", Activation::Silu},
      {"swish", Activation::Silu},
      {"quick_gelu", Activation::QuickGelu},
      {"relu2", Activation::SquaredRelu},
  };
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.name);
  return kRows[activation_row(config, key, names, fallback)].activation;
}

void read_embedding(TensorReader& reader, Model& model, const std::string& name) {
  const ModelConfig& c = model.config;
  const bool head = c.tied_output && !reader.has(name) && reader.has("lm_head.weight");
  reader.load(head ? "lm_head.weight" : name, c.vocabulary, c.width, false, model, "embed.weight");
}

void read_output_head(TensorReader& reader, Model& model, const std::string& embedding) {
  const ModelConfig& c = model.config;
  if (c.tied_output) {
    if (!reader.are_equal_or_missing(embedding, "lm_head.weight")) {
      reader.fail("tensor lm_head.weight: expected the same numbers as " + embedding +
                  ", since config.json ties them (tie_word_embeddings), found other numbers");
    }
    reader.ignore("lm_head.weight");  // a second copy of the embedding
    return;
  }
  reader.load("lm_head.weight", c.width, c.vocabulary, true, model, "output.weight");
}

bool predicts_tokens(const Json& config, const StoredTensors& tensors, bool tied,
                     const std::string& head) {
  if (!tied && tensors.contains(head)) return true;
  if (!config.contains("architectures")) return true;
  const Json& classes = config["architectures"];
  if (!classes.is_array() || classes.size() == 0) return true;
  return std::any_of(classes.begin(), classes.end(), [](const Json& name) {
    if (!name.is_string()) return false;
    const auto text = name.get<std::string>();
    return text.find("LMHead") != std::string::npos ||
           text.find("DoubleHeads") != std::string::npos ||
           text.find("ForCausalLM") != std::string::npos ||
           text.find("ForConditionalGeneration") != std::string::npos;
  });
}

void find_output_head(const CheckpointSource& source, const std::string& head, Model& model) {
  ModelConfig& config = model.config;
  if (predicts_tokens(source.config, source.tensors, config.tied_output, head)) return;
  config.model_options.output_head = false;
  config.head = {};
  model.notes.push_back(
      "the checkpoint has no language model head: attention and hidden states are available, but "
      "no predictions");
}

void refuse_quantisation(JsonObject& config) {
  if (config.has("quantization_config")) {
    config.fail("quantization_config", "nothing (quantised weights are not supported)");
  }
}

void require_flag(JsonObject& config, std::string_view key, bool supported) {
  if (config.flag_or(key, supported) != supported) {
    config.fail(key, std::string(supported ? "true" : "false") + " (nothing else is supported)");
  }
}

}  // namespace attnscope
