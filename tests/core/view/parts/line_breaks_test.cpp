#include "core/view/parts/line_breaks.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(LineBreaks, WrapBoxesLikeWords) {
  const std::vector<Box> boxes =
      wrap_boxes({4, 5, 3, 20}, {.width = 10, .gap = 1, .line = 3, .height = 2});
  ASSERT_EQ(boxes.size(), 4u);
  EXPECT_EQ(boxes[1].x, 5);
  EXPECT_EQ(boxes[1].y, 0);
  EXPECT_EQ(boxes[2].x, 0);  // 11 + 3 exceed 10
  EXPECT_EQ(boxes[2].y, 3);
  EXPECT_EQ(boxes[3].y, 6);
  EXPECT_EQ(boxes[3].width, 10);
  EXPECT_EQ(boxes[3].height, 2);
  EXPECT_TRUE(wrap_boxes({}, {10, 1, 3, 2}).empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
