// safetensors files: https://github.com/huggingface/safetensors (format of 2023).
//
// 8 bytes little-endian header length, a JSON header, then the tensors without gaps, row-major,
// little-endian. Reading is strict: overlaps, gaps, tensors outside the file, duplicate keys and
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
  // Known by size alone: files may hold them beside what is read.
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

// One stored tensor: its bytes as they lie in the (memory-mapped) file or in memory.
struct StoredTensor {
  DType dtype = DType::F32;
  Shape shape;
  const std::uint8_t* bytes = nullptr;
  std::shared_ptr<const void> owner;  // keeps bytes alive
  bool mapped = false;                // bytes lie in a file and can be read from it again

  // Copies; what they were copied from takes no memory any longer where it is `mapped`, so that
  // reading a whole file takes little more than its tensors.
  Tensor floats() const;           // F32, F16, BF16, F64
  StoredTensor copied() const;     // as it is
  ByteTensor byte_values() const;  // U8, Bool
  IntTensor integers() const;      // I32, I64 (InputError outside int32)
};
StoredTensor stored(const Tensor& t, DType as = DType::F32);  // F32, F16 or BF16
StoredTensor stored(const ByteTensor& t);
StoredTensor stored(const IntTensor& t);

struct SafetensorsFile {
  std::map<std::string, StoredTensor> tensors;
  std::map<std::string, std::string> metadata;  // header key "__metadata__"
};

SafetensorsFile read_safetensors(const std::filesystem::path& path);
// Written to a temporary name beside `path` and renamed. WorkError when that fails.
void write_safetensors(const std::filesystem::path& path, const SafetensorsFile& file);

}  // namespace attnscope
