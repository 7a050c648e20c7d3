#include "app/window/widgets/damage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

constexpr int kWidth = 320, kHeight = 200;

bool same_box(const PixelBox& a, const PixelBox& b) {
  return a.x == b.x && a.y == b.y && a.width == b.width && a.height == b.height;
}

bool covers(const std::vector<PixelBox>& boxes, int x, int y) {
  return std::any_of(boxes.begin(), boxes.end(), [&](const PixelBox& b) {
    return x >= b.x && x < b.x + b.width && y >= b.y && y < b.y + b.height;
  });
}

void callback(const ImDrawList*, const ImDrawCmd*) {}

// Content of a test callback: a box in one colour.
struct PaintedBox {
  PixelBox box;
  std::uint64_t colour;
};

// Frames of shapes, drawn without a window.
class DamageTest : public ::testing::Test {
 protected:
  DamageTest() {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {kWidth, kHeight};
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~DamageTest() override { ImGui::DestroyContext(); }

  template <typename F>
  ImDrawData& frame(const F& draw) {
    ImGui::NewFrame();
    draw(*ImGui::GetBackgroundDrawList());
    ImGui::Render();
    return *ImGui::GetDrawData();
  }
  template <typename F>
  std::vector<PixelBox> update(const F& draw) {
    return damage_.update(frame(draw));
  }

  Damage damage_{[](const ImDrawCmd& command) {
    const PaintedBox& painted = *static_cast<const PaintedBox*>(command.UserCallbackData);
    return Damage::Drawing{painted.box, painted.colour};
  }};
};

auto box_at(float x, float y, ImU32 colour = IM_COL32(255, 0, 0, 255)) {
  return [=](ImDrawList& draw) {
    draw.AddRectFilled({0, 0}, {kWidth, kHeight}, IM_COL32(10, 10, 10, 255));
    draw.AddRectFilled({x, y}, {x + 8, y + 8}, colour);
  };
}

TEST_F(DamageTest, CoversFirstFrameAndNoEqualFrame) {
  const auto first = update(box_at(10, 10));
  ASSERT_EQ(first.size(), 1U);
  EXPECT_TRUE(same_box(first[0], {0, 0, kWidth, kHeight}));
  EXPECT_TRUE(update(box_at(10, 10)).empty());
  damage_.invalidate();
  EXPECT_EQ(update(box_at(10, 10)).size(), 1U);
}

TEST_F(DamageTest, CoversOldAndNewPlaceOfShape) {
  update(box_at(10, 10));
  const auto boxes = update(box_at(250, 150));
  for (const auto& [x, y] : {std::pair{10, 10}, {17, 17}, {250, 150}, {257, 157}}) {
    EXPECT_TRUE(covers(boxes, x, y)) << x << "," << y;
  }
  EXPECT_FALSE(covers(boxes, 128, 96));
}

TEST_F(DamageTest, DetectsColoursAndOrder) {
  update(box_at(10, 10));
  EXPECT_TRUE(covers(update(box_at(10, 10, IM_COL32(254, 0, 0, 255))), 12, 12));
  const auto two_boxes = [](ImU32 lower, ImU32 upper) {
    return [=](ImDrawList& draw) {
      draw.AddRectFilled({40, 40}, {60, 60}, lower);
      draw.AddRectFilled({40, 40}, {60, 60}, upper);
    };
  };
  update(two_boxes(IM_COL32(1, 2, 3, 255), IM_COL32(4, 5, 6, 255)));
  EXPECT_TRUE(covers(update(two_boxes(IM_COL32(4, 5, 6, 255), IM_COL32(1, 2, 3, 255))), 50, 50));
}

TEST_F(DamageTest, DetectsClippingAndSizes) {
  const auto clipped_line = [](float right) {
    return [=](ImDrawList& draw) {
      draw.PushClipRect({0, 0}, {right, kHeight});
      draw.AddRectFilled({0, 100}, {kWidth, 110}, IM_COL32_WHITE);
      draw.PopClipRect();
    };
  };
  update(clipped_line(100));
  EXPECT_TRUE(covers(update(clipped_line(200)), 150, 105));
  ImGui::GetIO().DisplaySize = {kWidth, kHeight - 40};
  const auto smaller = update(clipped_line(200));
  ASSERT_EQ(smaller.size(), 1U);
  EXPECT_TRUE(same_box(smaller[0], {0, 0, kWidth, kHeight - 40}));
}

TEST_F(DamageTest, ComparesContentOfCallbacks) {
  PaintedBox painted{{64, 64, 32, 32}, 1};
  const auto draw = [&](ImDrawList& list) { list.AddCallback(callback, &painted); };
  update(draw);
  EXPECT_TRUE(update(draw).empty());
  painted.colour = 2;
  const auto boxes = update(draw);
  ASSERT_EQ(boxes.size(), 1U);
  EXPECT_TRUE(same_box(boxes[0], painted.box));  // the box consists of whole tiles
}

TEST_F(DamageTest, MergesManyScatteredTiles) {
  const auto chequered = [](ImU32 colour) {
    return [=](ImDrawList& draw) {
      for (int y = 0; y < kHeight; y += 64) {
        for (int x = 0; x < kWidth; x += 64) {
          const ImVec2 corner(static_cast<float>(x), static_cast<float>(y));
          draw.AddRectFilled(corner, {corner.x + 4, corner.y + 4}, colour);
        }
      }
    };
  };
  update(chequered(IM_COL32_WHITE));
  const auto changes = update(chequered(IM_COL32_BLACK));
  EXPECT_EQ(changes.size(), 20U);  // 5 x 4 tiles, none adjacent
  for (int y = 0; y < kHeight; y += 64) {
    for (int x = 0; x < kWidth; x += 64) EXPECT_TRUE(covers(changes, x, y));
  }
}

TEST_F(DamageTest, KeepsOnlyTrianglesWithinTheBoxes) {
  ImDrawData& data = frame([](ImDrawList& draw) {
    draw.AddRectFilled({0, 0}, {8, 8}, IM_COL32_WHITE);
    draw.AddRectFilled({100, 100}, {108, 108}, IM_COL32_WHITE);
    draw.AddRectFilled({30, 0}, {34, 200}, IM_COL32_WHITE);  // crosses both boxes
  });
  clip_to_boxes(data, {{0, 0, 32, 32}, {0, 96, 64, 32}});
  ASSERT_EQ(data.CmdListsCount, 1);
  const ImDrawList& list = *data.CmdLists[0];
  ASSERT_EQ(list.CmdBuffer.Size, 2);
  EXPECT_EQ(list.CmdBuffer[0].ElemCount, 12U);  // two rectangles
  EXPECT_EQ(list.CmdBuffer[1].ElemCount, 6U);
  EXPECT_EQ(list.CmdBuffer[1].IdxOffset, 12U);
  EXPECT_EQ(list.IdxBuffer.Size, 18);
  const ImVec4& clip = list.CmdBuffer[1].ClipRect;
  EXPECT_TRUE(clip.x == 0 && clip.y == 96 && clip.z == 64 && clip.w == 128);
}

// Clip rectangles are not rounded to pixels, which could shrink them.
TEST_F(DamageTest, LeavesWholeFrameUnchanged) {
  ImDrawData& data = frame([](ImDrawList& draw) {
    draw.PushClipRect({10.5F, 10.25F}, {90.75F, 60.5F});
    draw.AddRectFilled({0, 0}, {200, 100}, IM_COL32_WHITE);
    draw.PopClipRect();
  });
  const int commands = data.CmdLists[0]->CmdBuffer.Size;
  clip_to_boxes(data, {{0, 0, kWidth, kHeight}});
  ASSERT_EQ(data.CmdLists[0]->CmdBuffer.Size, commands);
  EXPECT_EQ(data.CmdLists[0]->CmdBuffer[0].ClipRect.x, 10.5F);
}

TEST_F(DamageTest, KeepsEachCallbackAtLeastOnce) {
  PaintedBox visible{{0, 0, 320, 200}, 1}, hidden{{0, 0, 320, 200}, 2};
  ImDrawData& data = frame([&](ImDrawList& draw) {
    draw.AddCallback(callback, &visible);
    draw.PushClipRect({200, 150}, {300, 190});
    draw.AddCallback(callback, &hidden);
    draw.PopClipRect();
  });
  clip_to_boxes(data, {{0, 0, 32, 32}, {64, 64, 32, 32}});
  std::vector<std::pair<void*, bool>> callbacks;  // callback data; true if the callback draws
  for (const ImDrawCmd& c : data.CmdLists[0]->CmdBuffer) {
    if (c.UserCallback == callback)
      callbacks.emplace_back(c.UserCallbackData, c.ClipRect.z > c.ClipRect.x);
  }
  const std::vector<std::pair<void*, bool>> expected{
      {&visible, true}, {&visible, true}, {&hidden, false}};
  EXPECT_EQ(callbacks, expected);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
