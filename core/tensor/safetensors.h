// safetensors files: https://github.com/huggingface/safetensors (format of 2023).
//
// 8 bytes little-endian header length, a JSON header, then the tensors without gaps, row-major,
// little-endian. Reading is strict: overlaps, gaps, out-of-range tensors, duplicate keys and
// unknown dtypes are InputErrors that begin with the file's name. A dimension may be 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/tensor/tensor.h"

namespace attnscope {

enum class DType {
  F32,
  F16,
  BF16,
  F64,
  U8,
  I32,
  I64,
  Bool,
  // Only the size is known: files may contain such tensors, but their numbers are never converted.
  I8,
  I16,
  U16,
  U32,
  U64,
  F8E4M3,
  F8E5M2
};
std::string_view to_string(DType dtype);  // "F32"
Index byte_size(DType dtype);

// A stored tensor: its bytes in the (memory-mapped) file or in memory.
struct StoredTensor {
  DType dtype = DType::F32;
  Shape shape;
  const std::uint8_t* bytes = nullptr;
  std::shared_ptr<const void> owner;  // keeps bytes alive
  bool mapped = false;                // bytes are in a mapped file and can be read again

  // Copies of the numbers. The source pages of a `mapped` tensor are released afterwards, so that
  // reading a whole file needs little more memory than its tensors.
  Tensor floats() const;           // F32, F16, BF16, F64
  StoredTensor copy() const;       // same dtype
  ByteTensor byte_values() const;  // U8, Bool
  IntTensor integers() const;      // I32, I64 (InputError if outside int32)
};
StoredTensor stored(const Tensor& t, DType as = DType::F32);  // F32, F16 or BF16
StoredTensor stored(const ByteTensor& t);
StoredTensor stored(const IntTensor& t);

struct SafetensorsFile {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;  // header key "__metadata__"
};

SafetensorsFile read_safetensors(const std::filesystem::path& path);
// Writes atomically (core/base/file.h). WorkError on failure.
void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

}  // namespace attnscope
