// GGUF models from llama.cpp's converters, stored in one file or split into several.
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/gguf_layouts.h"
#include "core/checkpoint/source.h"
#include "core/tensor/gguf.h"
#include "core/text/file/gguf_tokenizer.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

Index find_mask_token(const Json& metadata, Index vocabulary) {
  const Json* id = metadata.find("tokenizer.ggml.mask_token_id");
  if (id == nullptr || !id->is_number_integer() || *id < 0 || *id >= vocabulary) return -1;
  return id->get<Index>();
}

std::string chat_template(const Json& metadata) {
  const Json* text = metadata.find("tokenizer.chat_template");
  return text != nullptr && text->is_string() ? text->text() : "";
}

CheckpointSource open_gguf(const fs::path& path) {
  const auto file = std::make_shared<const GgufFile>(read_gguf(path));
  CheckpointSource source;
  source.place = source.config_place = path.string();
  source.config = gguf_config(file->metadata, file->tensors, source.place);
  source.read_tensors = [file, config = source.config, place = source.place] {
    return gguf_tensors(file->metadata, config, file->tensors, place);
  };
  source.read_tokenizer = [file, place = source.place] {
    return gguf_tokenizer(file->metadata, place);
  };
  source.read_chat_template = [file] { return chat_template(file->metadata); };
  source.read_target_tokenizer = [] { return nullptr; };
  source.find_mask_token = [file](Index vocabulary) {
    return find_mask_token(file->metadata, vocabulary);
  };
  source.read_image_processor = [] { return std::nullopt; };
  return source;
}

}  // namespace

std::optional<fs::path> gguf_in_folder(const fs::path& folder) {
  if (!is_folder(folder) || file_exists(folder / "config.json")) return std::nullopt;
  std::set<fs::path> models;
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator(folder, unreadable)) {
    const fs::path& path = entry.path();
    if (path.extension() == ".gguf" && is_gguf(path)) models.insert(gguf_files(path).front());
  }
  if (models.empty()) return std::nullopt;
  if (models.size() == 1) return *models.begin();
  std::string names;
  for (const fs::path& path : models) {
    names += (names.empty() ? "" : ", ") + path.filename().string();
  }
  throw InputError(folder.string() + ": expected one GGUF model, found " + names +
                   "; give the file's path");
}

CheckpointContainer gguf_container() {
  return {"GGUF file", is_gguf, open_gguf, gguf_files};
}

}  // namespace attnscope
