#include "core/view/mechanism/token_strip.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Tensor row_of(const std::vector<float>& numbers) {
  Tensor row({1, static_cast<Index>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), row.data());
  return row;
}

// The seven most frequent kinds of the first list get the seven colours.
TEST(TokenStrip, FrequentKindsHaveDistinctColours) {
  std::vector<float> numbers;
  for (int kind = 0; kind < 20; ++kind) {
    const int times = kind % 3 == 0 ? 5 : 1;  // kinds 0, 3, ..., 18 are frequent
    numbers.insert(numbers.end(), static_cast<std::size_t>(times), static_cast<float>(100 - kind));
  }
  const KindColours colours(row_of(numbers), row_of({7, 7, 7, 7, 7, 7, 7, 7}));
  for (Index a = 0; a < 19; a += 3) {
    for (Index b = 0; b < a; b += 3) EXPECT_FALSE(colours(100 - a) == colours(100 - b));
  }
  const Tensor categories = colours.categories(row_of({100, 99, NAN, 7}));
  EXPECT_LT(categories[0], 7);
  EXPECT_GE(categories[1], 7);
  EXPECT_TRUE(std::isnan(categories[2]));
  EXPECT_EQ(categories[3], 20);  // only in the second list
}

TEST(TokenStrip, FindsTokenAtPoint) {
  const Trace trace = testing::synthetic_trace(1, 1, 5);
  testing::ViewInputFixture fixture(trace, {});
  fixture.input.canvas.width = fixture.input.canvas.height = 400;
  const Page page(fixture.input);
  const Tensor kinds = row_of({3, 1, 1, 3, 2});
  const TokenStrip strip =
      place_strip(page, {10, 20, 380, 100}, query_axis(trace, trace.attention[0]), {"kind"}, kinds,
                  KindColours(kinds));
  ASSERT_GT(strip.cells.width, 0);
  EXPECT_LE(strip.cells.right(), 390.001);
  EXPECT_LE(strip.bottom(), 120.001);
  for (Index i = 0; i < 5; ++i) {
    EXPECT_EQ(strip.at({strip.centre(i), strip.cells.y + 1}), i);
    EXPECT_EQ(strip.at({strip.centre(i), strip.cells.y - 1}), i);  // its label
  }
  EXPECT_EQ(strip.at({strip.cells.x - 1, strip.cells.y + 1}), -1);
  EXPECT_EQ(strip.at({strip.centre(0), strip.bottom() + 1}), -1);
}

TEST(TokenStrip, HasNoCellsIfSpaceIsShort) {
  const Trace trace = testing::synthetic_trace(1, 1, 5);
  testing::ViewInputFixture fixture(trace, {});
  fixture.input.canvas.width = fixture.input.canvas.height = 400;
  const Page page(fixture.input);
  const Tensor kinds = row_of({3, 1, 1, 3, 2});
  for (const Box& box : {Box{0, 0, 20, 100}, Box{0, 0, 300, 1}}) {
    const TokenStrip strip = place_strip(page, box, {}, {}, kinds, KindColours(kinds));
    EXPECT_EQ(strip.cells.width, 0);
    EXPECT_EQ(strip.at({5, 5}), -1);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
