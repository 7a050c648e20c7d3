// GGUF files, versions 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// A file has metadata by key, then tensors. Tensor data remain in the memory-mapped file. Reading
// is strict: counts, lengths, dimensions and offsets are checked before memory is allocated.
// InputErrors begin with the file's name. Unsupported number formats are errors.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/tensor/stored_tensor.h"

namespace attnscope {

struct GgufFile {
  Json metadata;                                // {"llama.block_count": 30, ...}
  std::map<std::string, StoredTensor> tensors;  // shapes row-major: the file's order reversed
};

// Reads a model. `path` may be any file of a model in several files ("NAME-00001-of-00003.gguf");
// the result has the tensors of all files and the metadata of the first.
GgufFile read_gguf(const std::filesystem::path& path);

// The files that read_gguf(path) reads. Some may not exist.
std::vector<std::filesystem::path> gguf_files(const std::filesystem::path& path);

// True for regular files that begin with GGUF's magic number.
bool is_gguf(const std::filesystem::path& path);

}  // namespace attnscope
