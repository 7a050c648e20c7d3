// safetensors files: https://github.com/huggingface/safetensors (format of 2023).
//
// A file has a header length (8 bytes, little-endian), a JSON header, and the tensors (row-major,
// little-endian) without gaps. Reading is strict: overlaps, gaps, out-of-range tensors, duplicate
// keys and unknown dtypes are InputErrors that begin with the file's name. A dimension may be 0.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

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

// Tensors of a file that are computed while it is written, one part at a time, so that the file
// need not fit into memory.
struct SafetensorsOutput {
  struct Entry {
    std::string name;
    DType dtype = DType::F32;
    Shape shape;
    std::vector<std::function<StoredTensor()>> parts;  // their concatenation is the tensor
  };
  std::vector<Entry> tensors;  // computed in this order, except that wide types come first
  std::map<std::string, std::string> metadata;

  void add(std::string name, const StoredTensor& tensor);
};
void write_safetensors(const std::filesystem::path& path, const SafetensorsOutput& file);

}  // namespace attnscope
