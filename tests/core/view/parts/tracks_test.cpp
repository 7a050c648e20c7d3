#include "core/view/parts/tracks.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::vector<double> sizes(const Tracks& tracks) {
  std::vector<double> list;
  for (const Track& track : tracks) list.push_back(track.size);
  return list;
}

TEST(Tracks, WeightedTracksGrowBeforeOthers) {
  Tracks tracks{{.size = 2},
                {.size = 1, .most = 4},
                {.size = 1, .most = 3, .weight = 1},
                {.size = 1, .most = Track::kUnlimited, .weight = 3}};
  ASSERT_TRUE(fit(tracks, 9));
  EXPECT_EQ(sizes(tracks), (std::vector<double>{2, 1, 2, 4}));
}

TEST(Tracks, LimitedTracksLeaveSpaceToOthers) {
  Tracks tracks{{.size = 1, .most = 2, .weight = 1},
                {.size = 1, .most = 5, .weight = 1},
                {.size = 1, .most = 3}};
  ASSERT_TRUE(fit(tracks, 9));
  EXPECT_EQ(sizes(tracks), (std::vector<double>{2, 5, 2}));
  ASSERT_TRUE(fit(tracks, 20));
  EXPECT_EQ(extent(tracks), 10);
}

TEST(Tracks, RejectsTooLittleSpace) {
  Tracks tracks{{.size = 3, .gap = 1}, {.size = 2}};
  EXPECT_FALSE(fit(tracks, 5.9));
  EXPECT_TRUE(fit(tracks, 6));
}

TEST(Tracks, AbsentTracksHaveNoGap) {
  const Tracks tracks{{.size = 3, .gap = 1}, {.gap = 7}, {.size = 2, .gap = 5}};
  EXPECT_EQ(extent(tracks), 6);
  const std::vector<Box> row_boxes = rows({10, 20, 30, 0}, tracks, 2);
  EXPECT_EQ(row_boxes[0].bottom(), 26);
  EXPECT_EQ(row_boxes[1].height, 0);
  EXPECT_EQ(row_boxes[2].y, 28);
  EXPECT_EQ(row_boxes[2].height, 4);
  EXPECT_EQ(row_boxes[2].width, 30);
  const std::vector<Box> column_boxes = columns({10, 20, 0, 40}, tracks, 1);
  EXPECT_EQ(column_boxes[2].x, 14);
  EXPECT_EQ(column_boxes[2].height, 40);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
