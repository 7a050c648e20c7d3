// Checkpoints: models with their tokenizers, loaded from GGUF files or from folders with
// config.json, model.safetensors and tokenizer files.
//
// "model_type" in config.json selects the layout, one of checkpoint_formats(): attnscope's own, or
// a layout of the Hugging Face libraries.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/text/tokenizer.h"

namespace attnscope {

struct Checkpoint {
  std::string name;  // folder, file, or name in the Hugging Face cache: "org/name"
  Model model;
  std::shared_ptr<const Tokenizer> tokenizer;         // null: the model runs on token ids only
  std::string tokenizer_problem;                      // reason for a null tokenizer
  std::shared_ptr<const Tokenizer> target_tokenizer;  // null: the output uses `tokenizer`
  // Tokenizer of the model's output.
  const std::shared_ptr<const Tokenizer>& output_tokenizer() const {
    return target_tokenizer ? target_tokenizer : tokenizer;
  }
  std::string chat_template;             // Jinja template that frames messages; empty: none
  std::vector<std::int32_t> end_tokens;  // ids that end a text: eos_token_id
};

// Loads a bundled model ("default"), one of user_models(), a folder, a GGUF file, or a model in the
// Hugging Face cache (hub.h). Throws InputError, naming the invalid or missing file, key or tensor.
Checkpoint load_checkpoint(const std::string& name_or_folder);
// Frames `text` as a user's turn. Throws InputError if the chat template is missing or unknown.
std::string chat_turn(const Checkpoint& checkpoint, std::string_view text);
// Folder or GGUF file that load_checkpoint() reads. Throws InputError if the path is missing.
std::filesystem::path model_path(const std::string& name_or_folder);

// Tower (encoder) that a name selects in a model such as CLIP: "vision_model" for
// "clip/vision_model"; empty for a name without a tower.
std::string model_tower(const std::string& name_or_folder);

// Writes config.json, model.safetensors (weights as F16 if `half`, else F32) and the tokenizer into
// `folder`, which is created if missing.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, bool half);

// Sorted names of the GGUF files and model folders in user_models_folder().
std::vector<std::string> user_models();
// Names of the folders in assets/models; "default" first.
std::vector<std::string> bundled_models();
// Bundled text models whose variant or encoding differs from the default model's, by the id of that
// variant or encoding.
std::map<std::string, std::string, std::less<>> bundled_models_by_choice();

}  // namespace attnscope
