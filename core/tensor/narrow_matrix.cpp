#include "core/tensor/narrow_matrix.h"

#include <algorithm>
#include <vector>

#include "core/base/stop.h"

namespace attnscope {

NarrowMatrix NarrowMatrix::transpose() const {
  NarrowMatrix result = *this;
  std::swap(result.rows, result.columns);
  result.transposed = !transposed;
  return result;
}

NarrowMatrix NarrowMatrix::column_range(Index first, Index count) const {
  NarrowMatrix result = *this;
  result.columns = count;
  result.offset = offset + first * (transposed ? stride : 1);
  return result;
}

void NarrowMatrix::row(Index r, float* to) const {
  if (!transposed) {
    widen(r, 0, columns, to);
    return;
  }
  for (Index c = 0; c < columns; ++c) widen(c, r, 1, to + c);
}

Tensor NarrowMatrix::to_tensor() const {
  Tensor result({rows, columns});
  if (!transposed) {
    for (Index r = 0; r < rows; ++r) row(r, result.data() + r * columns);
    return result;
  }
  std::vector<float> line(static_cast<std::size_t>(rows));
  for (Index c = 0; c < columns; ++c) {
    widen(c, 0, rows, line.data());
    for (Index r = 0; r < rows; ++r) result[r * columns + c] = line[static_cast<std::size_t>(r)];
  }
  return result;
}

Index NarrowMatrix::first_number(Index line) const {
  const Index begin = offset + line * stride;
  if (interleaved_rows == 0) return begin;
  return stored_row(begin / stride, interleaved_rows) * stride + begin % stride;
}

bool NarrowMatrix::has_block_rows() const {
  const Index block = block_size(dtype);
  return is_quantised(dtype) && offset % block == 0 && (transposed ? rows : columns) % block == 0;
}

void NarrowMatrix::add_dots(Index first, Index last, const float* x, float* to) const {
  if (stride == 0) return;  // rows without numbers
  constexpr Index kDots = 4;
  const Index first_row = offset / stride, row_bytes = byte_count(dtype, stride);
  const std::uint8_t* begin = bytes + byte_count(dtype, offset % stride);
  for (Index line = first; line < last && !is_stopping(); line += kDots) {
    const Index count = std::min(kDots, last - line);
    const std::uint8_t* lines[kDots];
    for (Index r = 0; r < kDots; ++r) {  // repeats the last row if fewer are left
      const Index row = first_row + line + std::min(r, count - 1);
      lines[r] = begin + stored_row(row, interleaved_rows) * row_bytes;
    }
    float dots[kDots];
    four_dots_decoded(dtype, lines, transposed ? rows : columns, x, dots);
    for (Index r = 0; r < count; ++r) to[line + r] += dots[r];
  }
}

void NarrowMatrix::widen(Index line, Index first, Index count, float* to) const {
  constexpr Index kMaxBlock = 256;
  const Index block = block_size(dtype);
  Index begin = first_number(line) + first;
  const auto bytes_at = [&](Index number) { return bytes + byte_count(dtype, number); };
  // Decodes `part` numbers of a block after the first `skipped`.
  const auto decode_part = [&](Index skipped, Index part) {
    float numbers[kMaxBlock];
    decode_numbers(dtype, bytes_at(begin - skipped), block, numbers);
    std::copy_n(numbers + skipped, part, to);
    begin += part;
    to += part;
    count -= part;
  };
  if (const Index skipped = begin % block; skipped != 0) {
    decode_part(skipped, std::min(block - skipped, count));
  }
  if (count == 0) return;
  const Index whole = count / block * block;
  decode_numbers(dtype, bytes_at(begin), whole, to);
  begin += whole;
  to += whole;
  count -= whole;
  if (count > 0) decode_part(0, count);
}

}  // namespace attnscope
