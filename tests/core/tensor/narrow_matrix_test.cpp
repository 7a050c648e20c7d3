#include "core/tensor/narrow_matrix.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/support/compare.h"
#include "tests/support/random_blocks.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Random tensor [lines, stride] in the format `dtype`.
StoredTensor random_memory(DType dtype, Index lines, Index stride) {
  if (is_quantised(dtype)) return testing::random_blocks(dtype, {lines, stride}, 1);
  return stored(testing::random_tensor({lines, stride}, 1), dtype);
}

// A [rows, columns] matrix whose stride exceeds the length of a stored row. `values` receives its
// elements as floats.
NarrowMatrix narrow_matrix(Index rows, Index columns, bool transposed, DType dtype,
                           Tensor& values) {
  const Index block = block_size(dtype), least = (transposed ? rows : columns) + 3;
  const Index lines = transposed ? columns : rows, stride = (least + block - 1) / block * block;
  const StoredTensor memory = random_memory(dtype, lines, stride);
  const Tensor floats = memory.floats();
  values = Tensor({rows, columns});
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) values(r, c) = transposed ? floats(c, r) : floats(r, c);
  }
  return {dtype, rows, columns, stride, 0, transposed, memory.bytes, memory.owner};
}

class NarrowMatrices : public ::testing::TestWithParam<DType> {};

TEST_P(NarrowMatrices, ConvertToFloat) {
  for (const bool transposed : {false, true}) {
    Tensor values;
    const NarrowMatrix matrix = narrow_matrix(9, 21, transposed, GetParam(), values);
    EXPECT_TRUE(testing::close(matrix.to_tensor(), values, 0));
    const Tensor transposed_copy = matrix.transpose().to_tensor(),
                 columns_4_to_9 = matrix.column_range(4, 6).to_tensor();
    ASSERT_EQ(transposed_copy.shape(), (Shape{21, 9}));
    ASSERT_EQ(columns_4_to_9.shape(), (Shape{9, 6}));
    for (Index r = 0; r < 9; ++r) {
      for (Index c = 0; c < 21; ++c) EXPECT_EQ(transposed_copy(c, r), values(r, c));
      for (Index c = 0; c < 6; ++c) EXPECT_EQ(columns_4_to_9(r, c), values(r, c + 4));
    }
  }
}

// Rows 0 and 1, 2 and 3, ... in memory are rows 0 and n/2, 1 and n/2 + 1, ... of each run of n.
TEST_P(NarrowMatrices, ReadInterleavedRows) {
  constexpr Index kRun = 6, kLines = 18, kColumns = 21;
  Tensor in_memory;
  NarrowMatrix matrix = narrow_matrix(kLines, kColumns, false, GetParam(), in_memory);
  matrix.interleaved_rows = kRun;
  Tensor expected({kLines, kColumns});
  for (Index line = 0; line < kLines; ++line) {
    const Index within = line % kRun, row = line - within + within % 2 * (kRun / 2) + within / 2;
    for (Index c = 0; c < kColumns; ++c) expected(row, c) = in_memory(line, c);
  }
  EXPECT_TRUE(testing::close(matrix.to_tensor(), expected, 0));
  const NarrowMatrix transposed = matrix.transpose();
  for (const Index rows : {1, 40}) {
    const Tensor a = testing::random_tensor({rows, kColumns}, 2);
    const Matrix right{expected.data(), kColumns, kLines, kColumns, true};
    Tensor from_floats({rows, kLines}), from_stored({rows, kLines});
    const Matrix left{a.data(), rows, kColumns, kColumns};
    multiply_matrices(left, right, from_floats.data(), kLines, false);
    multiply_matrices(left, transposed, from_stored.data(), kLines, false);
    EXPECT_TRUE(testing::close(from_stored, from_floats, 0)) << rows;
  }
  const Tensor part = transposed.column_range(4, 9).to_tensor();  // across runs
  for (Index r = 0; r < kColumns; ++r) {
    for (Index c = 0; c < 9; ++c) EXPECT_EQ(part(r, c), expected(c + 4, r));
  }
}

// The products of a narrow matrix and of its float copy are bit-identical.
TEST_P(NarrowMatrices, ProductsEqualThoseAfterConversion) {
  const std::vector<std::array<Index, 3>> sizes{
      {1, 1, 1},     {3, 5, 7},      {0, 4, 2},     {4, 0, 2},      {4, 3, 0},
      {1, 700, 500}, {65, 257, 130}, {3, 300, 900}, {300, 1100, 5}, {5, 1100, 40}};
  for (const auto& [rows, columns, inner] : sizes) {
    for (int flags = 0; flags < 4; ++flags) {
      const bool transposed = flags & 1, add = flags & 2;
      Tensor values;
      const NarrowMatrix b = narrow_matrix(inner, columns, transposed, GetParam(), values);
      const Tensor a = testing::random_tensor({rows, inner}, 2);
      const Tensor initial = testing::random_tensor({rows, columns}, 3);
      const Matrix left{a.data(), rows, inner, inner};
      Tensor converted =
          transposed ? b.transpose().to_tensor() : b.to_tensor();  // keeps the memory order of b
      const Matrix right{converted.data(), inner, columns, transposed ? inner : columns,
                         transposed};
      Tensor expected = initial.copy(), result = initial.copy();
      multiply_matrices(left, right, expected.data(), columns, add);
      multiply_matrices(left, b, result.data(), columns, add);
      EXPECT_TRUE(testing::close(result, expected, 0)) << rows << " " << columns << " " << flags;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, NarrowMatrices,
                         ::testing::Values(DType::F16, DType::BF16, DType::Q4_1, DType::Q6_K),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
