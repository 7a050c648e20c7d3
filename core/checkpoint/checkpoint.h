// Checkpoints: a model with its tokenizer, loaded from a folder with config.json,
// model.safetensors, tokenizer files and MODEL.md.
//
// The layout follows from config.json's "model_type"; checkpoint_formats() lists the supported
// ones: attnscope's own and those of the Hugging Face libraries.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/text/tokenizer.h"

namespace attnscope {

struct Checkpoint {
  std::string name;  // the folder's name
  Model model;
  std::shared_ptr<const Tokenizer> tokenizer;         // null: the model runs on token ids only
  std::string tokenizer_problem;                      // reason for a null tokenizer
  std::shared_ptr<const Tokenizer> target_tokenizer;  // null: the output uses `tokenizer`
  // Tokenizer of the model's output.
  const std::shared_ptr<const Tokenizer>& output_tokenizer() const {
    return target_tokenizer ? target_tokenizer : tokenizer;
  }
  std::vector<std::int32_t> end_tokens;  // ids that end a text: eos_token_id
};

// Loads a bundled model ("default"), a folder, or a model in the Hugging Face cache (hub.h). Throws
// InputError that names the missing or invalid file, key or tensor.
Checkpoint load_checkpoint(const std::string& name_or_folder);
// Folder of such a model. Throws InputError if there is none.
std::filesystem::path model_folder(const std::string& name_or_folder);

// Tower of a multi-tower model that the name ends with: "vision_model" for "clip/vision_model";
// empty if it names none.
std::string model_tower(const std::string& name_or_folder);

// Writes config.json, model.safetensors (weights as F16 if `half`, else F32) and the tokenizer into
// `folder`, which is created if missing.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, bool half);

// Folders in assets/models, in the source tree or as installed; "default" first.
std::vector<std::string> bundled_models();
// Bundled text models for variants and encodings that the default model lacks, by the id of the
// variant or encoding.
std::map<std::string, std::string, std::less<>> bundled_models_by_choice();

}  // namespace attnscope
