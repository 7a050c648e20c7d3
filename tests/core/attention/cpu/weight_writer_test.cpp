#include "core/attention/cpu/weight_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kRows = 9;

// Row r has keys [r, 2 r + 1) with weights 1, 2, ... and the factor 1 / (r + 1).
cpu::WeightBlock test_block(Index first_row, Index rows) {
  cpu::WeightBlock result;
  result.first_row = first_row;
  result.rows = rows;
  result.first_key = 0;
  result.p_stride = 40;
  result.p = Tensor({rows, result.p_stride});
  std::fill(result.p.begin(), result.p.end(), std::numeric_limits<float>::quiet_NaN());
  for (Index r = 0; r < rows; ++r) {
    const auto n = static_cast<std::size_t>(r);
    const Index row = first_row + r;
    result.first[n] = static_cast<std::int32_t>(row);
    result.last[n] = static_cast<std::int32_t>(2 * row + 1);
    result.factor[n] = 1 / static_cast<float>(row + 1);
    for (Index c = row; c < 2 * row + 1; ++c) result.p(r, c) = static_cast<float>(c - row + 1);
  }
  return result;
}

void expect_rows(const Tensor& attention, Index rows) {
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < attention.dim(2); ++c) {
      const bool has_weight = c >= r && c < 2 * r + 1;
      EXPECT_FLOAT_EQ(attention(0, r, c),
                      has_weight ? static_cast<float>(c - r + 1) / static_cast<float>(r + 1) : 0)
          << r << ' ' << c;
    }
  }
}

// Any number of steps writes all weights of a block.
TEST(WeightWriter, WritesAllWeightsInAnyNumberOfSteps) {
  for (const Index keys : {17, 33}) {
    for (const Index steps : {0, 1, 2, 7, 1000}) {
      Tensor attention({1, kRows, keys});
      std::fill(attention.begin(), attention.end(), std::numeric_limits<float>::quiet_NaN());
      cpu::WeightWriter writer(cpu::row_kernels(), attention);
      for (Index row = 0; row < kRows; row += 4) {
        cpu::WeightBlock block = test_block(row, std::min<Index>(4, kRows - row));
        writer.plan(steps);
        for (Index n = 0; n < steps; ++n) writer.advance();
        writer.submit(block);
      }
      writer.finish();
      expect_rows(attention, kRows);
    }
  }
}

// All planned steps write equally many rows.
TEST(WeightWriter, SpreadsWorkOverTheSteps) {
  Tensor attention = Tensor::zeros({1, 8, 32});
  cpu::WeightWriter writer(cpu::row_kernels(), attention);
  cpu::WeightBlock block = test_block(0, 8);
  writer.submit(block);
  writer.plan(2);
  writer.advance();
  expect_rows(attention, 4);
  EXPECT_EQ(attention(0, 4, 4), 0);
  writer.advance();
  expect_rows(attention, 8);
}

TEST(WeightWriter, WritesNothingWithoutAttention) {
  Tensor attention;
  cpu::WeightWriter writer(cpu::row_kernels(), attention);
  writer.plan(3);
  writer.advance();
  writer.finish();
  EXPECT_FALSE(attention.defined());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
