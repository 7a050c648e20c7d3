// Tensors as stored in files: bytes of a number format, converted on demand.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/tensor/tensor.h"

namespace attnscope {

// Number formats. Names and layouts: safetensors for single numbers, GGML for blocks.
enum class DType {
  F32,
  F16,
  BF16,
  F64,
  U8,
  I32,
  I64,
  Bool,
  // Formats of known size that files may contain. Their numbers are never converted.
  I8,
  I16,
  U16,
  U32,
  U64,
  F8E4M3,
  F8E5M2,
  // Quantised formats of GGUF files: blocks of consecutive numbers of a row with common scales.
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  Q8_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4
};
std::string_view to_string(DType dtype);  // "F32"
bool is_quantised(DType dtype);           // numbers are stored in blocks
Index block_size(DType dtype);            // numbers in a block; 1 for single numbers
Index byte_size(DType dtype);             // bytes of a block or a single number
// Bytes of `count` consecutive numbers. Requires a multiple of block_size().
Index byte_count(DType dtype, Index count);

// Converts `count` numbers, a multiple of block_size(). Requires F32, F16, BF16, F64 or a quantised
// format; `from` may be unaligned. Throws InputError for other formats.
void decode_numbers(DType dtype, const std::uint8_t* from, Index count, float* to);
// Stores dots[r], the dot product of x with the `count` numbers at rows[r], as if decoded, for r
// < 4. Requires a quantised format. Fastest for rows that follow one another in memory.
void four_dots_decoded(DType dtype, const std::uint8_t* const* rows, Index count, const float* x,
                       float* dots);
// True if all numbers (F32, F16, BF16) or all scales of blocks (quantised formats) are finite.
bool has_finite_numbers(DType dtype, const std::uint8_t* from, Index count);

// Position in memory of row `row` of a matrix that is stored in runs of n = `interleaved` rows, an
// even number. Each run interleaves its halves: rows 0, n/2, 1, n/2 + 1, ... GGUF files of Llama
// store the queries and keys of each head in this order. interleaved 0: rows in order.
inline Index stored_row(Index row, Index interleaved) {
  if (interleaved == 0) return row;
  const Index within = row % interleaved, half = interleaved / 2;
  return row - within + 2 * (within % half) + within / half;
}

// A stored tensor. Its bytes are in a memory-mapped file or in memory.
struct StoredTensor {
  DType dtype = DType::F32;
  Shape shape;
  const std::uint8_t* bytes = nullptr;
  std::shared_ptr<const void> owner;  // keeps bytes alive
  bool mapped = false;                // bytes are in a mapped file and can be read again
  bool transposed = false;            // bytes contain the transpose of the matrix
  Index interleaved_rows = 0;         // row order in memory, see stored_row(); not `transposed`

  // Copies of the numbers. floats() and copy() then release the source pages of a `mapped` tensor,
  // so that reading a whole file needs little more memory than its tensors.
  Tensor floats() const;           // F32, F16, BF16, F64, quantised; not `transposed`
  StoredTensor copy() const;       // same dtype
  ByteTensor byte_values() const;  // U8, Bool
  IntTensor integers() const;      // I32, I64 (InputError if outside int32)
};
StoredTensor stored(const Tensor& t, DType as = DType::F32);  // F32, F16 or BF16
StoredTensor stored(const ByteTensor& t);
StoredTensor stored(const IntTensor& t);

}  // namespace attnscope
