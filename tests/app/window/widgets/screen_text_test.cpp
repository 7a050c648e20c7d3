#include "app/window/widgets/screen_text.h"

#include <gtest/gtest.h>

#include "app/window/utf8.h"
#include "app/window/widgets/fonts.h"
#include "app/window/widgets/line_layout.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class ScreenTextTest : public ::testing::Test {
 protected:
  ScreenTextTest() {
    fonts_.load(atlas_, 1);
    ImGui::CreateContext(&atlas_);
    fonts_.track_missing_glyphs();
    ImGui::GetIO().DisplaySize = {400, 300};
    ImGui::GetIO().DeltaTime = 0.01F;
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::NewFrame();
  }
  ~ScreenTextTest() override {
    ImGui::EndFrame();
    ImGui::DestroyContext();
  }

  void reload(double scale) {
    ImGui::EndFrame();
    fonts_.load(atlas_, scale);
    ImGui::NewFrame();
  }

  // Draws the text in a frame. True if the frame lacked glyphs.
  bool draws_incompletely(const std::string& text) {
    ImGui::GetForegroundDrawList()->AddText(fonts_.body, baked_size(fonts_.body), {10, 10},
                                            IM_COL32_WHITE, on_screen(text).c_str());
    ImGui::Render();
    const bool is_incomplete = fonts_.rasterise_missing(*ImGui::GetDrawData());
    ImGui::NewFrame();
    return is_incomplete;
  }

  ImFontAtlas atlas_;
  Fonts fonts_;
};

TEST_F(ScreenTextTest, KeepsPlainText) {
  for (const char* text : {"", "Plain text, 12.5%", "café → naïve ≥ 3", "two\nlines\t"}) {
    EXPECT_EQ(on_screen(text), text);
  }
}

TEST_F(ScreenTextTest, ShowsCodePointsOfCharactersWithoutGlyph) {
  EXPECT_EQ(on_screen("a\u0378\u0379b"), "aU+0378 U+0379b");
  EXPECT_EQ(on_screen("a\xE4z"), "a0xE4z");
  EXPECT_EQ(on_screen("\u200B"), "U+200B");  // would leave no trace
}

#if IMGUI_VERSION_NUM < 19200

bool is_code(const std::string& text) {
  const CodePoint c = code_point_at(text, 0);
  return c.bytes == text.size() && c.value >= 0xE000 && c.value <= 0xF8FF;
}

TEST_F(ScreenTextTest, ShapesWordsFromRightToLeft) {
  const std::string first = on_screen("שלום"), second = on_screen("עולם");
  EXPECT_TRUE(is_code(first));
  EXPECT_TRUE(is_code(second));
  EXPECT_NE(first, second);
  EXPECT_EQ(on_screen("שלום עולם"), second + " " + first);
  EXPECT_EQ(on_screen("“שלום” attends to “עולם”"), "“" + first + "” attends to “" + second + "”");
}

TEST_F(ScreenTextTest, ShapesAccentsWithTheirLetter) {
  const std::string shown = on_screen("cafe\u0301s");
  ASSERT_EQ(shown.size(), 7);
  EXPECT_TRUE(is_code(shown.substr(3, 3)));
  const float width =
      fonts_.body->CalcTextSizeA(baked_size(fonts_.body), FLT_MAX, 0, on_screen("e\u0301").c_str())
          .x;
  EXPECT_NEAR(width, advance(fonts_.body, baked_size(fonts_.body), U'é'), 0.5);
}

TEST_F(ScreenTextTest, RasterisesGlyphsOnce) {
  EXPECT_FALSE(draws_incompletely("plain"));
  EXPECT_TRUE(draws_incompletely("שלום"));
  const std::vector<TextureBox> boxes = fonts_.shaped().take_changes();
  ASSERT_EQ(boxes.size(), 1);
  unsigned opaque = 0;
  for (int y = boxes[0].y; y < boxes[0].y + boxes[0].height; ++y) {
    for (int x = boxes[0].x; x < boxes[0].x + boxes[0].width; ++x) {
      opaque += atlas_.TexPixelsRGBA32[y * atlas_.TexWidth + x] >> 24 > 128 ? 1 : 0;
    }
  }
  EXPECT_GT(opaque, 10);
  EXPECT_FALSE(draws_incompletely("שלום"));
  reload(1.5);  // other sizes
  EXPECT_TRUE(draws_incompletely("שלום"));
}

// Draws more words than there are codes: codes of words in earlier frames are released.
TEST_F(ScreenTextTest, ReusesCodes) {
  const auto word = [](int n) {
    std::string text;
    for (; n >= 0; n = n / 20 - 1) text += to_utf8(static_cast<char32_t>(0x5D0 + n % 20));
    return text;
  };
  int used = 0;
  while (!fonts_.lacks_glyphs() && used < 10000) on_screen(word(used++));
  EXPECT_EQ(used, 6401);
  reload(1);
  EXPECT_FALSE(fonts_.lacks_glyphs());
  EXPECT_TRUE(is_code(on_screen(word(used))));
}

#endif

TEST_F(ScreenTextTest, PlacesCursorInBothDirections) {
  ImGui::PushFont(fonts_.body);
  const std::string line = "ab שלום";
  const LineLayout layout(line, false);
  EXPECT_EQ(layout.position_of(0), 0);
  const double word = layout.position_of(3);  // before the first Hebrew letter: the right end
  EXPECT_NEAR(word, layout.width(), 0.01);
  EXPECT_LT(layout.position_of(5), word);
  for (const std::size_t offset : {0U, 1U, 2U, 5U, 7U}) {
    EXPECT_EQ(layout.offset_at(layout.position_of(offset)), offset);
  }
  ImGui::PopFont();
}

TEST_F(ScreenTextTest, CursorMovesLeftInHebrew) {
  ImGui::PushFont(fonts_.body);
  const std::string line = "שלום עולם";
  const LineLayout layout(line, true);
  EXPECT_NEAR(layout.position_of(0), layout.width(), 0.01);
  double previous = layout.position_of(0);
  for (std::size_t offset = next_cluster(line, 0); offset < line.size();
       offset = next_cluster(line, offset)) {
    EXPECT_LT(layout.position_of(offset), previous) << offset;
    previous = layout.position_of(offset);
  }
  EXPECT_NEAR(layout.position_of(line.size()), 0, 0.01);
  // The full stop of a Latin line in a Hebrew paragraph is at the left.
  EXPECT_EQ(LineLayout("came.", true).position_of(5), 0);
  ImGui::PopFont();
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
