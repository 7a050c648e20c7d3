// Folders with config.json, model.safetensors (or shards) and tokenizer files, as the Hugging Face
// libraries write them.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/source.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

Json read_json(const fs::path& path) {
  return parse_json(read_file(path, limits::kMaxConfig), path.string());
}

// Reads the shards that model.safetensors.index.json lists.
StoredTensors read_shards(const fs::path& folder) {
  const fs::path index_path = folder / "model.safetensors.index.json";
  const Json index = read_json(index_path);
  JsonObject object(index, index_path.string());
  const Json& map = object.any("weight_map");
  if (!map.is_object()) object.fail("weight_map", "an object");
  std::map<std::string, std::set<std::string>> file_tensors;  // tensor names by file
  for (const auto& [tensor, name_of_file] : map.items()) {
    if (!name_of_file.is_string()) object.fail("weight_map", "a file name for each tensor");
    const auto file = name_of_file.text();
    if (fs::path(file).filename() != fs::path(file) || file.empty() || file[0] == '.') {
      throw InputError(object.path_of("weight_map") + ": expected a plain file name, found " +
                       shortened(name_of_file));
    }
    file_tensors[file].insert(tensor);
  }
  StoredTensors tensors;
  for (const auto& [file, names] : file_tensors) {
    SafetensorsFile shard = read_safetensors(folder / file);
    for (const std::string& name : names) {
      const auto found = shard.tensors.find(name);
      if (found == shard.tensors.end()) {
        throw InputError((folder / file).string() + ": tensor " + name +
                         " is missing, but model.safetensors.index.json lists it in this file");
      }
      tensors.insert(*found);
    }
    for (const auto& [name, tensor] : shard.tensors) {
      if (names.contains(name)) continue;
      const bool listed = map.contains(name);
      throw InputError((folder / file).string() + ": tensor " + name + " is present, but " +
                       "model.safetensors.index.json " +
                       (listed ? "lists it in " + map[name].get<std::string>() : "lacks it"));
    }
  }
  return tensors;
}

// Suffix of the AutoModel class of the transformers library that loads the model with its head.
const char* auto_model_suffix(const fs::path& folder) {
  const Json config = read_json(folder / "config.json");
  const Json classes = config.contains("architectures") ? config["architectures"] : Json();
  const std::string name = classes.is_array() && classes.size() > 0 && classes[0].is_string()
                               ? classes[0].get<std::string>()
                               : "";
  for (const auto& [class_part, suffix] : {std::pair{"CausalLM", "ForCausalLM"},
                                           {"LMHead", "ForCausalLM"},
                                           {"MaskedLM", "ForMaskedLM"},
                                           {"ForPreTraining", "ForPreTraining"},
                                           {"ConditionalGeneration", "ForSeq2SeqLM"}}) {
    if (name.find(class_part) != std::string::npos) return suffix;
  }
  return "";
}

StoredTensors read_tensors(const fs::path& folder) {
  if (file_exists(folder / "model.safetensors")) {
    return read_safetensors(folder / "model.safetensors").tensors;
  }
  if (file_exists(folder / "model.safetensors.index.json")) return read_shards(folder);
  for (const char* file : {"pytorch_model.bin", "pytorch_model.bin.index.json"}) {
    if (!file_exists(folder / file)) continue;
    throw InputError((folder / file).string() +
                     ": expected model.safetensors, since pickled weights may run arbitrary code; "
                     "to convert them: python3 -c \"from transformers import AutoModel" +
                     std::string(auto_model_suffix(folder)) + " as M; M.from_pretrained('" +
                     folder.string() + "').save_pretrained('" + folder.string() + "')\"");
  }
  throw InputError(folder.string() +
                   ": no model.safetensors and no model.safetensors.index.json in this folder");
}

// Possible names of the mask token.
std::set<std::string> mask_names(const fs::path& folder) {
  std::set<std::string> names{"[MASK]", "<mask>"};
  for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"}) {
    if (!fs::exists(folder / file)) continue;
    const Json object = parse_json(read_file(folder / file, limits::kMaxConfig), file);
    if (!object.is_object() || !object.contains("mask_token")) continue;
    const Json& name = object["mask_token"];
    if (name.is_string()) names.insert(name.get<std::string>());
    if (name.is_object() && name.contains("content") && name["content"].is_string()) {
      names.insert(name["content"].get<std::string>());
    }
  }
  return names;
}

// Id of one of `names` in "added_tokens" of tokenizer.json; -1: none.
Index find_in_added_tokens(const fs::path& file, const std::set<std::string>& names) {
  if (!fs::exists(file)) return -1;
  const Json object = parse_json(read_file(file, limits::kMaxConfig), file.string());
  if (!object.is_object() || !object.contains("added_tokens")) return -1;
  const Json& added = object["added_tokens"];
  if (!added.is_array()) return -1;
  for (const Json& token : added) {
    const bool valid = token.is_object() && token.contains("content") && token.contains("id") &&
                       token["content"].is_string() && token["id"].is_number_integer();
    if (valid && names.contains(token["content"].get<std::string>())) {
      return token["id"].get<Index>();
    }
  }
  return -1;
}

// Id of one of `names` in vocab.txt, which has one token per line; -1: none.
Index find_in_lines(const fs::path& file, const std::set<std::string>& names) {
  if (!fs::exists(file)) return -1;
  const std::string text = read_file(file, limits::kMaxConfig);
  Index line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string token = text.substr(begin, end - begin);
    if (!token.empty() && token.back() == '\r') token.pop_back();
    if (names.contains(token)) return line;
    begin = end + 1;
  }
  return -1;
}

// Id of one of `names` in vocab.json, {"<mask>": 50264}; -1: none.
Index find_in_members(const fs::path& file, const std::set<std::string>& names) {
  if (!fs::exists(file)) return -1;
  const Json object = parse_json(read_file(file, limits::kMaxConfig), file.string());
  for (const std::string& name : names) {
    if (object.is_object() && object.contains(name) && object[name].is_number_integer()) {
      return object[name].get<Index>();
    }
  }
  return -1;
}

Index find_mask_token(const fs::path& folder, Index vocabulary) {
  const std::set<std::string> names = mask_names(folder);
  for (const Index id : {find_in_added_tokens(folder / "tokenizer.json", names),
                         find_in_lines(folder / "vocab.txt", names),
                         find_in_members(folder / "vocab.json", names)}) {
    if (id >= 0 && id < vocabulary) return id;
  }
  return -1;
}

// Reads chat_template.jinja, else "chat_template" of tokenizer_config.json, which is a template or
// a list of named templates that includes "default".
std::string read_chat_template(const fs::path& folder) {
  if (file_exists(folder / "chat_template.jinja")) {
    return read_file(folder / "chat_template.jinja", limits::kMaxSmallFile);
  }
  const fs::path file = folder / "tokenizer_config.json";
  if (!file_exists(file)) return "";
  const Json config = parse_json(read_file(file, limits::kMaxConfig), file.string());
  const Json* stored = config.is_object() ? config.find("chat_template") : nullptr;
  if (stored == nullptr) return "";
  if (stored->is_string()) return stored->text();
  if (!stored->is_array()) return "";
  for (const Json& entry : *stored) {
    const Json* name = entry.is_object() ? entry.find("name") : nullptr;
    const Json* text = entry.is_object() ? entry.find("template") : nullptr;
    const bool is_default = name != nullptr && *name == "default";
    if (is_default && text != nullptr && text->is_string()) return text->text();
  }
  return "";
}

std::optional<PlacedJson> read_image_processor(const fs::path& folder) {
  const fs::path file = folder / "preprocessor_config.json";
  if (!fs::exists(file)) return std::nullopt;
  return PlacedJson{parse_json(read_file(file, limits::kMaxSmallFile), file.string()),
                    file.string()};
}

CheckpointSource open_folder(const fs::path& folder) {
  CheckpointSource source;
  source.place = folder.string();
  source.config_place = (folder / "config.json").string();
  source.config = read_json(source.config_place);
  source.read_tensors = [folder] { return read_tensors(folder); };
  source.read_tokenizer = [folder] { return load_tokenizer(folder); };
  source.read_chat_template = [folder] { return read_chat_template(folder); };
  source.read_target_tokenizer = [folder] { return load_target_tokenizer(folder); };
  source.find_mask_token = [folder](Index vocabulary) {
    return find_mask_token(folder, vocabulary);
  };
  source.read_image_processor = [folder] { return read_image_processor(folder); };
  return source;
}

std::vector<fs::path> model_files(const fs::path& folder) {
  std::vector<std::string> names = tokenizer_file_names();
  // Shards are omitted: their index changes with them.
  names.insert(names.end(), {"model.safetensors", "model.safetensors.index.json", "config.json"});
  std::vector<fs::path> files;
  for (const std::string& name : names) files.push_back(folder / name);
  return files;
}

}  // namespace

CheckpointContainer folder_container() {
  return {"folder", [](const fs::path& path) { return is_folder(path); }, open_folder, model_files};
}

}  // namespace attnscope
