// Checkpoint sources: stored models, independent of their containers.
//
// A container (a folder of the Hugging Face libraries, a GGUF file) is opened as a
// CheckpointSource: configuration, tensors, tokenizer. Layouts (format.h) translate a source into a
// Model and do not depend on its container. checkpoint_containers() lists the containers; a new
// container needs a file and a line in that list.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/tensor/safetensors.h"
#include "core/text/tokenizer.h"

namespace attnscope {

using StoredTensors = std::map<std::string, StoredTensor>;

// A JSON document of a source; `place` begins the messages about it.
struct PlacedJson {
  Json json;
  std::string place;
};

struct CheckpointSource {
  std::string place;         // begins error messages: "models/tiny"
  Json config;               // with the member names of the Hugging Face libraries' config.json
  std::string config_place;  // begins messages about `config`: "models/tiny/config.json"
  StoredTensors tensors;     // by name; filled from read_tensors()

  // Reads all tensors; their numbers may remain memory-mapped. InputErrors name the file.
  std::function<StoredTensors()> read_tensors{};
  // Throws InputError if there is no usable tokenizer.
  std::function<std::shared_ptr<const Tokenizer>()> read_tokenizer{};
  // Tokenizer of the generated text if the input has a different tokenizer; else null.
  std::function<std::shared_ptr<const Tokenizer>()> read_target_tokenizer{};
  // Jinja chat template (core/text/chat_template.h); empty: none. Throws InputError if invalid.
  std::function<std::string()> read_chat_template = [] { return std::string(); };
  // Id of the mask token, less than `vocabulary`; -1: no mask token. Does not call
  // read_tokenizer(), so that an invalid tokenizer does not change the model.
  std::function<Index(Index vocabulary)> find_mask_token{};
  // Normalisation of image colours (preprocessor_config.json), if stored.
  std::function<std::optional<PlacedJson>()> read_image_processor{};
};

struct CheckpointContainer {
  std::string name;  // "folder"
  std::function<bool(const std::filesystem::path&)> matches;
  // Reads the configuration; CheckpointSource::read_*() read the rest on demand.
  std::function<CheckpointSource(const std::filesystem::path&)> open;
  // Files that determine the model at a path; some may not exist. A change creates a new
  // ModelVersion.
  std::function<std::vector<std::filesystem::path>(const std::filesystem::path&)> files;
};

// Containers by precedence: the first that matches a path opens it.
const std::vector<CheckpointContainer>& checkpoint_containers();
// Container of `path`. Throws InputError if no container matches.
const CheckpointContainer& checkpoint_container(const std::filesystem::path& path);

CheckpointContainer folder_container();
CheckpointContainer gguf_container();

// First file of the GGUF model in a folder; nullopt if the folder has a config.json or no GGUF
// model. Throws InputError if it has several GGUF models.
std::optional<std::filesystem::path> gguf_in_folder(const std::filesystem::path& folder);

}  // namespace attnscope
