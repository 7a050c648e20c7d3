// A folder with a model: config.json, model.safetensors, tokenizer files, MODEL.md.
//
// Layouts are told apart by config.json's "model_type"; checkpoint_formats() lists those that are
// read: attnscope's own, Llama and GPT-2 as the Hugging Face libraries store them.
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
  std::shared_ptr<const Tokenizer> tokenizer;         // null: only token ids can be run
  std::string tokenizer_problem;                      // why it is null
  std::shared_ptr<const Tokenizer> target_tokenizer;  // null: what is written has the same one
  // Of what the model writes.
  const std::shared_ptr<const Tokenizer>& writing() const {
    return target_tokenizer ? target_tokenizer : tokenizer;
  }
  std::vector<std::int32_t> end_tokens;  // with which the model ends a text: eos_token_id
};

// A bundled model's name ("default"), a folder, or the name of one that the Hugging Face libraries
// have downloaded (hub.h). InputError names what is missing or misshapen.
Checkpoint load_checkpoint(const std::string& name_or_folder);
// The folder that such a name or a path stands for. InputError when there is none.
std::filesystem::path model_folder(const std::string& name_or_folder);

// Of a model with several towers the name of the one that the name ends with: of
// "clip/vision_model" "vision_model". Empty: it names none.
std::string model_tower(const std::string& name_or_folder);

// config.json, model.safetensors (weights as F32 or F16) and the tokenizer, into `folder`, which
// is made where it is missing.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, bool half);

// Folders of assets/models, beside the program's sources or as installed; "default" first.
std::vector<std::string> bundled_models();
// Of what is not in the default model the bundled ones that were trained with it, and read texts as
// it does: by the id of a variant or encoding.
std::map<std::string, std::string, std::less<>> bundled_models_by_choice();

}  // namespace attnscope
