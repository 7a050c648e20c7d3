// Models that the Hugging Face libraries have downloaded, as they lie in their cache:
//   <cache>/models--org--name/refs/main           the commit
//   <cache>/models--org--name/snapshots/<commit>  config.json, weights, tokenizer
// where <cache> is $HF_HUB_CACHE, else $HF_HOME/hub, else ~/.cache/huggingface/hub. Nothing is ever
// downloaded. Layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnscope {

std::filesystem::path hub_cache();

// Whether a name could be one of a model there: "org/name", "name", with "@revision" behind for
// another one than main.
bool is_hub_name(const std::string& name);

// Its folder with the files; nothing where the cache has no such model. InputError where it has,
// but not that revision, or not its files.
std::optional<std::filesystem::path> hub_folder(const std::string& name);

// "no /home/ann/.cache/huggingface/hub/models--org--name": what was looked for in vain.
std::string not_in_hub(const std::string& name);

// Names of those that have a config.json, in their order; of all layouts.
std::vector<std::string> hub_models();

}  // namespace attnscope
