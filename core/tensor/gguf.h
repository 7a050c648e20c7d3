// GGUF files, versions 2 and 3: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// Metadata by key, then tensors whose numbers remain in the memory-mapped file. Reading is strict:
// counts, lengths, dimensions and offsets are checked before memory is allocated, and InputErrors
// begin with the file's name. Number formats other than those of DType are rejected by name.
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

// Reads a file. Of a model in several files ("NAME-00001-of-00003.gguf") any may be given: the
// tensors of all are joined, with the metadata of the first.
GgufFile read_gguf(const std::filesystem::path& path);

// The files that read_gguf() reads, existing or not.
std::vector<std::filesystem::path> gguf_files(const std::filesystem::path& path);

// True for regular files that begin as GGUF files do.
bool is_gguf(const std::filesystem::path& path);

}  // namespace attnscope
