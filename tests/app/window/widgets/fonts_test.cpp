#include "app/window/widgets/fonts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "app/window/utf8.h"
#include "core/base/file.h"
#include "core/figure/render.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class FontsTest : public ::testing::Test {
 protected:
  FontsTest() {
    fonts_.load(atlas_, 1);
    ImGui::CreateContext(&atlas_);
    fonts_.track_missing_glyphs();
  }
  ~FontsTest() override { ImGui::DestroyContext(); }

  ImFontAtlas atlas_;
  Fonts fonts_;
};

// Russian text loads the remaining glyphs once; text in a script that needs shaping loads none.
TEST_F(FontsTest, LoadsGlyphsOfText) {
  EXPECT_TRUE(is_drawable(U'é'));
  on_screen("שלום");
  EXPECT_FALSE(fonts_.lacks_glyphs());
  on_screen("Дом");
  ASSERT_TRUE(fonts_.lacks_glyphs());
  fonts_.load(atlas_, 1);
  EXPECT_FALSE(fonts_.lacks_glyphs());
  EXPECT_EQ(on_screen("Дом"), "Дом");
  EXPECT_FALSE(fonts_.lacks_glyphs());
  fonts_.load(atlas_, 2);  // another scale
  EXPECT_EQ(on_screen("Дом"), "Дом");
}

TEST_F(FontsTest, FiguresHaveEqualWidth) {
  for (ImFont* font : {fonts_.body, fonts_.bold, fonts_.small}) {
    for (char32_t figure = U'0'; figure <= U'9'; ++figure) {
      EXPECT_FLOAT_EQ(advance(font, baked_size(font), figure),
                      advance(font, baked_size(font), U'0'));
    }
  }
}

TEST_F(FontsTest, SizesAgreeWithFiles) {
  const ScreenMeasure measure(fonts_, 1);
  for (const double size : {11.0, 13.0, 20.0}) {
    const std::string text = "attention weight 0.25";
    const double expected = file_text_measure().width(text, size);
    EXPECT_NEAR(measure.width(text, size, false), expected, 0.03 * expected);
  }
}

// Glyphs of the program's own texts are available from the start; patterns and templates of other
// programs' tokenizers are never drawn.
TEST(Fonts, CoverAllProgramText) {
  std::set<char32_t> uncommon;
  for (const char* room : {"app", "core", "assets/lessons", "assets/samples"}) {
    const std::filesystem::path folder = testing::source_folder() / room;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string ending = file.path().extension().string(), name = file.path().filename();
      if (name.starts_with("gguf_") || name == "chat_template.cpp") continue;
      if (!file.is_regular_file() || ending == ".png" || ending == ".safetensors") continue;
      const std::string text = read_file(file.path());
      for (std::size_t offset = 0; offset < text.size();) {
        const CodePoint c = code_point_at(text, offset);
        if (c.value >= ' ' && !Fonts::is_common(c.value)) uncommon.insert(c.value);
        offset += c.bytes;
      }
    }
  }
  std::string list;
  for (const char32_t c : uncommon) list += std::to_string(static_cast<unsigned>(c)) + " ";
  EXPECT_EQ(list, "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
