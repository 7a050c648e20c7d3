#include "core/part/mask_rows.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

bool masks_equal(const ByteTensor& a, const ByteTensor& b) {
  return a.shape() == b.shape() && std::equal(a.begin(), a.end(), b.begin());
}

TEST(MaskRows, ListBeginAndEndOfRuns) {
  ByteTensor mask = ByteTensor::zeros({3, 5});
  mask(0, 0) = mask(0, 1) = mask(0, 4) = mask(2, 2) = 1;
  const MaskRows rows = mask_rows(mask);
  EXPECT_EQ(rows, (MaskRows{{0, 2, 4, 5}, {}, {2, 3}}));
  EXPECT_TRUE(masks_equal(mask_from_rows(rows, 3, 5), mask));
}

TEST(MaskRows, RoundTripAnyMask) {
  Random random(1);
  for (int n = 0; n < 50; ++n) {
    const auto size = static_cast<Index>(1 + random.below(9));
    ByteTensor mask = ByteTensor::zeros({size, size + 2});
    for (std::uint8_t& cell : mask) cell = static_cast<std::uint8_t>(random.below(2));
    EXPECT_EQ(mask_error(mask_rows(mask)), "");
    EXPECT_TRUE(masks_equal(mask_from_rows(mask_rows(mask), size, size + 2), mask));
  }
}

TEST(MaskRows, AreClippedToNumberOfKeys) {
  const ByteTensor mask = mask_from_rows({{0, 9}, {4, 6}, {0, 1}, {0, 1}}, 3, 2);
  EXPECT_TRUE(masks_equal(mask, ByteTensor::from({3, 2}, {1, 1, 0, 0, 1, 0})));
}

TEST(MaskRows, RejectInvalidRuns) {
  EXPECT_EQ(mask_error({{0, 2}, {}}), "");
  for (const MaskRows& rows : {MaskRows{{0}}, MaskRows{{2, 1}}, MaskRows{{0, 2, 2, 3}},
                               MaskRows{{}, {1, 1}}, MaskRows{{-1, 2}, {-2, 0}}}) {
    EXPECT_TRUE(mask_error(rows).starts_with("row ")) << mask_error(rows);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
