#include "core/tensor/stored_tensor.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/base/mapped_file.h"
#include "core/base/stop.h"
#include "core/tensor/block_decoders.h"
#include "core/tensor/half.h"
#include "core/tensor/row_kernels.h"

namespace attnscope {
namespace {

using Format = cpu::BlockFormat cpu::BlockFormats::*;

struct DTypeRow {
  DType dtype;
  std::string_view name;
  Index bytes;               // bytes of a block
  Index block = 1;           // numbers in a block
  Format format = nullptr;   // of quantised blocks
  int scales[2] = {-1, -1};  // offsets of binary16 scales in a block
};
using Blocks = cpu::BlockFormats;
constexpr std::array<DTypeRow, 29> kDTypes{{
    {DType::F32, "F32", 4},
    {DType::F16, "F16", 2},
    {DType::BF16, "BF16", 2},
    {DType::F64, "F64", 8},
    {DType::U8, "U8", 1},
    {DType::I32, "I32", 4},
    {DType::I64, "I64", 8},
    {DType::Bool, "BOOL", 1},
    {DType::I8, "I8", 1},
    {DType::I16, "I16", 2},
    {DType::U16, "U16", 2},
    {DType::U32, "U32", 4},
    {DType::U64, "U64", 8},
    {DType::F8E4M3, "F8_E4M3", 1},
    {DType::F8E5M2, "F8_E5M2", 1},
    {DType::Q4_0, "Q4_0", 18, 32, &Blocks::q4_0, {0, -1}},
    {DType::Q4_1, "Q4_1", 20, 32, &Blocks::q4_1, {0, 2}},
    {DType::Q5_0, "Q5_0", 22, 32, &Blocks::q5_0, {0, -1}},
    {DType::Q5_1, "Q5_1", 24, 32, &Blocks::q5_1, {0, 2}},
    {DType::Q8_0, "Q8_0", 34, 32, &Blocks::q8_0, {0, -1}},
    {DType::Q2_K, "Q2_K", 84, 256, &Blocks::q2_k, {80, 82}},
    {DType::Q3_K, "Q3_K", 110, 256, &Blocks::q3_k, {108, -1}},
    {DType::Q4_K, "Q4_K", 144, 256, &Blocks::q4_k, {0, 2}},
    {DType::Q5_K, "Q5_K", 176, 256, &Blocks::q5_k, {0, 2}},
    {DType::Q6_K, "Q6_K", 210, 256, &Blocks::q6_k, {208, -1}},
    {DType::Q8_K, "Q8_K", 292, 256, &Blocks::q8_k},
    {DType::IQ4_NL, "IQ4_NL", 18, 32, &Blocks::iq4_nl, {0, -1}},
    {DType::IQ4_XS, "IQ4_XS", 136, 256, &Blocks::iq4_xs, {0, -1}},
    {DType::MXFP4, "MXFP4", 17, 32, &Blocks::mxfp4},
}};

const DTypeRow& dtype_row(DType dtype) {
  return kDTypes[static_cast<std::size_t>(dtype)];
}

std::int32_t to_int32(std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    throw InputError("integer " + std::to_string(value) + ": expected 32 bits");
  }
  return static_cast<std::int32_t>(value);
}

template <class T>
T load(const std::uint8_t* bytes, Index i) {
  T value;
  std::memcpy(&value, bytes + i * static_cast<Index>(sizeof(T)), sizeof(T));
  return value;
}

// Elements between two cancellation checks: some milliseconds if they are not yet in memory.
constexpr Index kChunk = Index{1} << 19;

// Calls body(first, count) for consecutive chunks.
template <class Body>
void for_each_chunk(Index count, const Body& body) {
  for (Index first = 0; first < count; first += kChunk) {
    check_stop();
    body(first, std::min(kChunk, count - first));
  }
}

[[noreturn]] void fail_dtype(const char* expected, DType found) {
  throw InputError(std::string("expected ") + expected + ", found " +
                   std::string(to_string(found)));
}

void release_pages(const StoredTensor& tensor) {
  if (!tensor.mapped) return;
  const Index count = byte_count(tensor.dtype, element_count(tensor.shape));
  release_mapped_pages(tensor.bytes, static_cast<std::size_t>(count));
}

// True if the exponent bits of this 16-bit number are not all set.
bool is_finite(const std::uint8_t* number, std::uint16_t exponent) {
  return (load<std::uint16_t>(number, 0) & exponent) != exponent;
}

constexpr std::uint16_t kHalfExponent = 0x7c00, kBfloatExponent = 0x7f80;

bool has_finite_scales(const DTypeRow& row, const std::uint8_t* block) {
  constexpr float kMaxScale = 0x1p120F;       // kMaxScale times an 8-bit integer is finite
  constexpr std::uint8_t kMaxExponent = 251;  // 2^(e - 128) times 12 is finite
  if (row.dtype == DType::Q8_K) return std::abs(load<float>(block, 0)) <= kMaxScale;
  if (row.dtype == DType::MXFP4) return *block <= kMaxExponent;
  for (const int offset : row.scales) {
    if (offset >= 0 && !is_finite(block + offset, kHalfExponent)) return false;
  }
  return true;
}

const cpu::BlockFormat& block_format(const DTypeRow& row) {
  static const cpu::BlockFormats& formats = cpu::block_formats(cpu::row_kernels());
  return formats.*row.format;
}

}  // namespace

std::string_view to_string(DType dtype) {
  return dtype_row(dtype).name;
}

bool is_quantised(DType dtype) {
  return dtype_row(dtype).format != nullptr;
}

Index block_size(DType dtype) {
  return dtype_row(dtype).block;
}

Index byte_size(DType dtype) {
  return dtype_row(dtype).bytes;
}

Index byte_count(DType dtype, Index count) {
  ensure(count % block_size(dtype) == 0);
  return count / block_size(dtype) * byte_size(dtype);
}

void decode_numbers(DType dtype, const std::uint8_t* from, Index count, float* to) {
  const DTypeRow& row = dtype_row(dtype);
  if (row.format != nullptr) {
    ensure(count % row.block == 0);
    return block_format(row).decode(from, count / row.block, to);
  }
  switch (dtype) {
    case DType::F32:
      std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
      break;
    case DType::F16:
      from_half(from, to, count);
      break;
    case DType::BF16:
      from_bfloat(from, to, count);
      break;
    case DType::F64:
      for (Index i = 0; i < count; ++i) to[i] = static_cast<float>(load<double>(from, i));
      break;
    default:
      fail_dtype("F32, F16, BF16, F64 or quantised blocks", dtype);
  }
}

void four_dots_decoded(DType dtype, const std::uint8_t* const* rows, Index count, const float* x,
                       float* dots) {
  const DTypeRow& row = dtype_row(dtype);
  ensure(row.format != nullptr && count % row.block == 0);
  block_format(row).four_dots(rows, count / row.block, x, dots);
}

bool has_finite_numbers(DType dtype, const std::uint8_t* from, Index count) {
  const DTypeRow& row = dtype_row(dtype);
  bool finite = true;
  for (Index n = 0; n < count / row.block; ++n) {
    const std::uint8_t* at = from + n * row.bytes;
    if (row.format != nullptr) {
      finite &= has_finite_scales(row, at);
    } else if (dtype == DType::F32) {
      finite &= std::isfinite(load<float>(at, 0));
    } else {
      finite &= is_finite(at, dtype == DType::F16 ? kHalfExponent : kBfloatExponent);
    }
  }
  return finite;
}

Tensor StoredTensor::floats() const {
  Tensor result(shape);
  const Index n = result.size();
  if (interleaved_rows > 0 && n > 0) {
    ensure(!transposed && shape[0] % interleaved_rows == 0);
    const Index columns = n / shape[0];
    for (Index row = 0; row < shape[0]; ++row) {
      if (row % interleaved_rows == 0) check_stop();
      const Index first = stored_row(row, interleaved_rows) * columns;
      decode_numbers(dtype, bytes + byte_count(dtype, first), columns,
                     result.data() + row * columns);
    }
  } else {
    for_each_chunk(n, [&](Index first, Index count) {
      decode_numbers(dtype, bytes + byte_count(dtype, first), count, result.data() + first);
    });
  }
  release_pages(*this);
  return result;
}

StoredTensor StoredTensor::copy() const {
  const Index count = byte_count(dtype, element_count(shape));
  const auto numbers = std::make_shared<ByteTensor>(Shape{count});
  for_each_chunk(count, [&](Index first, Index chunk) {
    std::memcpy(numbers->data() + first, bytes + first, static_cast<std::size_t>(chunk));
  });
  release_pages(*this);
  return {dtype, shape, numbers->data(), numbers, false, transposed, interleaved_rows};
}

ByteTensor StoredTensor::byte_values() const {
  if (dtype != DType::U8 && dtype != DType::Bool) fail_dtype("U8 or BOOL", dtype);
  ByteTensor result(shape);
  if (!result.empty()) std::memcpy(result.data(), bytes, static_cast<std::size_t>(result.size()));
  return result;
}

IntTensor StoredTensor::integers() const {
  if (dtype != DType::I32 && dtype != DType::I64) fail_dtype("I32 or I64", dtype);
  IntTensor result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    result[i] =
        dtype == DType::I32 ? load<std::int32_t>(bytes, i) : to_int32(load<std::int64_t>(bytes, i));
  }
  return result;
}

StoredTensor stored(const Tensor& t, DType as) {
  if (as == DType::F32) {
    const auto owner = std::make_shared<Tensor>(t);
    return {as, t.shape(), reinterpret_cast<const std::uint8_t*>(t.data()), owner};
  }
  if (as != DType::F16 && as != DType::BF16) fail_dtype("F32, F16 or BF16", as);
  const auto bytes = std::make_shared<ByteTensor>(Shape{2 * t.size()});
  if (as == DType::F16) {
    to_half(t.data(), bytes->data(), t.size());
  } else {
    to_bfloat(t.data(), bytes->data(), t.size());
  }
  return {as, t.shape(), bytes->data(), bytes};
}

StoredTensor stored(const ByteTensor& t) {
  return {DType::U8, t.shape(), t.data(), std::make_shared<ByteTensor>(t)};
}

StoredTensor stored(const IntTensor& t) {
  return {DType::I32, t.shape(), reinterpret_cast<const std::uint8_t*>(t.data()),
          std::make_shared<IntTensor>(t)};
}

}  // namespace attnscope
