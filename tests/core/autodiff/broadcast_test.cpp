#include "core/autodiff/broadcast.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Axes = std::vector<std::vector<Index>>;  // size, stride_a, stride_b of each axis

Axes axes_of(const Shape& a, const Shape& b) {
  Axes axes;
  for (const BroadcastAxis& axis : broadcast_axes(broadcast_shape("add", a, b), a, b)) {
    axes.push_back({axis.size, axis.stride_a, axis.stride_b});
  }
  return axes;
}

TEST(Broadcast, MergesContiguousAxes) {
  EXPECT_EQ(axes_of({2, 3, 4}, {2, 3, 4}), (Axes{{24, 1, 1}}));
  EXPECT_EQ(axes_of({2, 3, 4}, {3, 4}), (Axes{{2, 12, 0}, {12, 1, 1}}));
  EXPECT_EQ(axes_of({2, 3, 4}, {2, 1, 4}), (Axes{{2, 12, 4}, {3, 4, 0}, {4, 1, 1}}));
  EXPECT_EQ(axes_of({2, 1}, {2, 3}), (Axes{{2, 1, 3}, {3, 0, 1}}));
  EXPECT_EQ(axes_of({2, 3}, {1}), (Axes{{6, 1, 0}}));
  EXPECT_EQ(axes_of({2, 1, 3}, {2, 1, 3}), (Axes{{6, 1, 1}}));
  EXPECT_EQ(axes_of({1, 1}, {1}), (Axes{{1, 1, 1}}));
}

TEST(Broadcast, ComputesRowOffsets) {
  const std::vector<BroadcastAxis> axes = broadcast_axes({2, 3, 4}, {2, 3, 4}, {2, 1, 4});
  for (Index row = 0; row < 6; ++row) {
    const BroadcastRow offset = broadcast_row(axes, row);
    EXPECT_EQ(offset.a, 4 * row);
    EXPECT_EQ(offset.b, 4 * (row / 3));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
