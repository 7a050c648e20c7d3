// Text towers of models that also read pictures: Gemma 3 (arXiv:2503.19786) and Mistral 3. Their
// config.json describes the tower in "text_config", and their tensors have the prefix
// "language_model.". The image tower and its projection are omitted with a note.
#include <algorithm>

#include "core/base/strict_json.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/hugging_face.h"

namespace attnscope {
namespace {

struct TextTower {
  const char* model_type;
  const char* text_type;  // model type of the tower if text_config has none
  const char* defaults;   // members of text_config that the released configs omit, as JSON
};
constexpr TextTower kTowers[] = {
    {"gemma3", "gemma3_text",
     R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216,
         "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
         "head_dim": 256, "rope_theta": 1000000})"},
    {"mistral3", "mistral", "{}"}};

// Name of a tensor of the tower as a model without pictures stores it; empty for other tensors.
std::string text_name(const std::string& name) {
  const std::pair<std::string_view, std::string_view> kPrefixes[] = {
      {"language_model.model.", "model."},
      {"language_model.lm_head.", "lm_head."},
      {"model.language_model.", "model."},
      {"lm_head.", "lm_head."}};
  for (const auto& [theirs, ours] : kPrefixes) {
    if (name.starts_with(theirs)) return std::string(ours) + name.substr(theirs.size());
  }
  return "";
}

bool is_of_pictures(const std::string& name) {
  return name.find("vision_tower.") != name.npos ||
         name.find("multi_modal_projector.") != name.npos;
}

// The tower's configuration as config.json of a model without pictures.
Json text_config(const TextTower& tower, const CheckpointSource& source) {
  const Json whole = without_nulls(source.config);
  if (!whole.contains("text_config") || !whole["text_config"].is_object()) {
    throw InputError(source.config_place + ": text_config: expected an object, found none");
  }
  Json config = without_nulls(whole["text_config"]);
  for (const char* key : {"architectures", "quantization_config"}) {
    if (whole.contains(key) && !config.contains(key)) config[key] = whole[key];
  }
  // The output head belongs to the whole model, whose setting counts; its default is to tie.
  const char* tied = "tie_word_embeddings";
  config[tied] = whole.contains(tied) ? whole[tied] : Json(true);
  const Json defaults = Json::parse(tower.defaults);
  for (const auto& [key, value] : defaults.items()) {
    if (!config.contains(key)) config[key] = value;
  }
  if (!config.contains("model_type")) config["model_type"] = tower.text_type;
  return config;
}

Model load_text_tower(const TextTower& tower, const CheckpointSource& source) {
  CheckpointSource text = source;
  text.config = text_config(tower, source);
  text.config_place = source.config_place + ": text_config";
  text.tensors.clear();
  bool has_pictures = false;
  for (const auto& [name, tensor] : source.tensors) {
    const std::string ours = text_name(name);
    if (!ours.empty()) text.tensors.emplace(ours, tensor);
    has_pictures = has_pictures || is_of_pictures(name);
    if (!ours.empty() || is_of_pictures(name)) continue;
    throw InputError(source.place + ": tensor " + name + " is not part of the text tower");
  }
  const std::string type = JsonObject(text.config, text.config_place).text("model_type");
  const std::vector<CheckpointFormat> formats = decoder_formats();
  const auto format = std::ranges::find(formats, type, &CheckpointFormat::model_type);
  if (format == formats.end()) {
    throw InputError(text.config_place + ": model_type: expected \"" + tower.text_type +
                     "\" or another decoder, found \"" + type + "\"");
  }
  Model model = format->load(text);
  if (has_pictures) {
    model.notes.push_back("the image tower and its projection are left out: pictures are not read");
  }
  return model;
}

}  // namespace

std::vector<CheckpointFormat> text_tower_formats() {
  std::vector<CheckpointFormat> formats;
  for (const TextTower& tower : kTowers) {
    formats.push_back({tower.model_type, [&tower](const CheckpointSource& source) {
                         return load_text_tower(tower, source);
                       }});
  }
  return formats;
}

}  // namespace attnscope
