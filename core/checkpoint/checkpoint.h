// Checkpoints: models with their tokenizers, loaded from folders with config.json,
// model.safetensors, tokenizer files and MODEL.md.
//
// The layout follows from config.json's "model_type"; checkpoint_formats() lists the supported
// ones: attnscope's own and those of the Hugging Face libraries.
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
  std::string name;  // of the folder or file, or in the Hugging Face cache
  Model model;
  std::shared_ptr<const Tokenizer> tokenizer;         // null: the model runs on token ids only
  std::string tokenizer_problem;                      // reason for a null tokenizer
  std::shared_ptr<const Tokenizer> target_tokenizer;  // null: the output uses `tokenizer`
  // Tokenizer of the model's output.
  const std::shared_ptr<const Tokenizer>& output_tokenizer() const {
    return target_tokenizer ? target_tokenizer : tokenizer;
  }
  std::string chat_template;             // frames messages of a conversation; empty: none
  std::vector<std::int32_t> end_tokens;  // ids that end a text: eos_token_id
};

// Loads a bundled model ("default"), one of user_models(), a folder, a GGUF file, or a model in the
// Hugging Face cache (hub.h). Throws InputError, naming the invalid or missing file, key or tensor.
Checkpoint load_checkpoint(const std::string& name_or_folder);
// The text as a user's turn by the model's chat template. Throws InputError if the model has none
// or an unknown one.
std::string chat_turn(const Checkpoint& checkpoint, std::string_view text);
// Folder or GGUF file of a model, by the same names. Throws InputError if there is none.
std::filesystem::path model_path(const std::string& name_or_folder);

// Last part of a name that selects one tower (encoder) of a model such as CLIP: "vision_model" for
// "clip/vision_model"; empty if there is none.
std::string model_tower(const std::string& name_or_folder);

// Writes config.json, model.safetensors (weights as F16 if `half`, else F32) and the tokenizer into
// `folder`, which is created if missing.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, bool half);

// Sorted names of the GGUF files and model folders in user_models_folder().
std::vector<std::string> user_models();
// Names of the folders in assets/models; "default" first.
std::vector<std::string> bundled_models();
// Bundled text models for variants and encodings that the default model lacks, by the id of the
// variant or encoding.
std::map<std::string, std::string, std::less<>> bundled_models_by_choice();

}  // namespace attnscope
