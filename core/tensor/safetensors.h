// safetensors files: https://github.com/huggingface/safetensors (format of 2023).
//
// A file has a header length (8 bytes, little-endian), a JSON header, and the tensors (row-major,
// little-endian) without gaps. Reading is strict: overlaps, gaps, out-of-range tensors, duplicate
// keys and unknown dtypes are InputErrors that begin with the file's name. A dimension may be 0.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/tensor/stored_tensor.h"

namespace attnscope {

struct SafetensorsFile {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;  // header key "__metadata__"
};

SafetensorsFile read_safetensors(const std::filesystem::path& path);
// Like read_safetensors() for a file in memory; `name` begins the messages.
SafetensorsFile parse_safetensors(std::string bytes, const std::string& name);
// Writes atomically (core/base/file.h). WorkError on failure.
void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

}  // namespace attnscope
