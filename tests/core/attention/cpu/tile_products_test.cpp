// Copies of selected rows. Consecutive tiles reuse the rows of their common first columns.
#include "core/attention/cpu/tile_products.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kRows = 600, kSize = 3;

using Columns = std::vector<std::int32_t>;

class SelectedRows : public ::testing::Test {
 protected:
  // `first`: index of the tile's first column in its block.
  void expect_selected(const Tensor& rows, const Columns& columns, Index first = 0) {
    cpu::Tile tile;
    tile.rows = 2;
    tile.columns = columns.data();
    tile.width = static_cast<Index>(columns.size());
    tile.first = first;
    const float* selected_rows = products_.selected_rows(tile, rows.data(), kSize);
    for (Index x = 0; x < tile.width; ++x) {
      for (Index t = 0; t < kSize; ++t) {
        ASSERT_EQ(selected_rows[x * kSize + t], rows(columns[static_cast<std::size_t>(x)], t)) << x;
      }
    }
    expect_scores(tile, rows);
  }

  // Scores are computed from panels. The last panel may be incomplete.
  void expect_scores(cpu::Tile tile, const Tensor& rows) {
    const Tensor a = testing::random_tensor({tile.rows, kSize}, 7);
    tile.extents.fill({0, tile.width});
    Tensor s = Tensor::zeros({tile.rows, tile.width});
    products_.scores(tile, a.data(), cpu::Packed(), 0, rows.data(), kSize, s.data(), tile.width,
                     false);
    for (Index r = 0; r < tile.rows; ++r) {
      for (Index x = 0; x < tile.width; ++x) {
        double sum = 0;
        for (Index t = 0; t < kSize; ++t) sum += double{a(r, t)} * double{rows(tile.columns[x], t)};
        ASSERT_NEAR(s(r, x), sum, 1e-5) << r << ' ' << x;
      }
    }
  }

  static Columns every_nth(Index step, Index count, Index first = 0) {
    Columns columns;
    for (Index n = 0; n < count; ++n) {
      columns.push_back(static_cast<std::int32_t>(first + n * step));
    }
    return columns;
  }

  const Tensor keys_ = testing::random_tensor({kRows, kSize}, 1);
  const Tensor values_ = testing::random_tensor({kRows, kSize}, 2);
  const Tensor third_matrix_ = testing::random_tensor({kRows, kSize}, 3);
  cpu::TileProducts products_{cpu::row_kernels()};
};

TEST_F(SelectedRows, ReuseCommonPrefix) {
  expect_selected(keys_, every_nth(2, 20));
  expect_selected(keys_, every_nth(2, 20));  // the same rows
  expect_selected(keys_, every_nth(2, 40));  // more rows
  expect_selected(keys_, every_nth(2, 7));   // fewer rows
  Columns changed_columns = every_nth(2, 40);
  for (std::size_t n = 21; n < changed_columns.size(); ++n)
    changed_columns[n] += 9;  // only columns 0 to 20 are unchanged
  expect_selected(keys_, changed_columns);
  expect_selected(keys_, every_nth(2, 40));
  expect_selected(keys_, every_nth(3, 40, 1));  // no common prefix
  changed_columns = every_nth(3, 40, 1);
  changed_columns.back() += 5;
  expect_selected(keys_, changed_columns);
}

TEST_F(SelectedRows, AreCachedPerMatrix) {
  for (int round = 0; round < 3; ++round) {
    expect_selected(keys_, every_nth(2, 40));
    expect_selected(values_, every_nth(2, 40));
    expect_selected(keys_, every_nth(2, 41));
    expect_selected(third_matrix_,
                    every_nth(2, 41));  // evicts the copy of one of the two cached matrices
    expect_selected(values_, every_nth(2, 41));
  }
}

TEST_F(SelectedRows, AreCachedPerPositionInBlock) {
  for (int round = 0; round < 2; ++round) {
    for (Index n = 0; n < 6; ++n) {  // more positions than cached tiles
      expect_selected(keys_, every_nth(2, 40, 3 * n), n * cpu::tile_columns);
    }
  }
}

TEST_F(SelectedRows, PointIntoTheMatrixForIntervals) {
  const Columns columns = every_nth(1, 30, 17);
  cpu::Tile tile;
  tile.rows = 2;
  tile.columns = columns.data();
  tile.width = 30;
  EXPECT_EQ(products_.selected_rows(tile, keys_.data(), kSize), keys_.data() + 17 * kSize);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
