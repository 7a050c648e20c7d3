// Hugging Face cache: models that the Hugging Face libraries have downloaded, as
//   <cache>/models--org--name/refs/main           the commit
//   <cache>/models--org--name/snapshots/<commit>  config.json, weights, tokenizer; or a GGUF file
// where <cache> is $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub. Nothing is ever
// downloaded. Layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

std::filesystem::path hub_cache();

// True if `name` has the form "org/name" or "name", optionally followed by "@revision".
bool is_hub_name(const std::string& name);

// Folder of the model's files; nullopt if the cache has no such model. Throws InputError if the
// revision or its files are missing.
std::optional<std::filesystem::path> hub_folder(const std::string& name);

// Message about a missing model: "no /home/ann/.cache/huggingface/hub/models--org--name".
std::string missing_in_hub(const std::string& name);

// Sorted names of the cached models that have a config.json or a GGUF model, supported or not.
std::vector<std::string> hub_models();

}  // namespace attnscope
