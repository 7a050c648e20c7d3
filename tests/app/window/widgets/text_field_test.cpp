#include "app/window/widgets/text_field.h"

#include <gtest/gtest.h>

#include <functional>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class TextFieldTest : public ::testing::Test {
 protected:
  TextFieldTest() {
    ui_.fonts.load(atlas_, 1);
    ImGui::CreateContext(&atlas_);
    ui_.fonts.track_missing_glyphs();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {640, 480};
    io.DeltaTime = 0.01F;
    ui_.look = &Look::light();
    draw();
    draw();
  }
  ~TextFieldTest() override { ImGui::DestroyContext(); }

  // Draws a frame with the fields a, b and the number, 100 pixels apart.
  void draw(std::vector<KeyStroke> strokes = {}) {
    ui_.strokes = std::move(strokes);
    begin_fields(ui_);
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({640, 480});
    ImGui::Begin("window", nullptr, ImGuiWindowFlags_NoDecoration);
    const auto place = [](float y) {
      ImGui::SetCursorScreenPos({10, y});
      ImGui::SetNextItemWidth(200);
    };
    place(100);
    if (focuses_a_) focus_next_field(ui_);
    focuses_a_ = false;
    text_field(ui_, a_, "a");
    place(200);
    text_field(ui_, b_, "b");
    place(300);
    number_changed_ |= number_field(ui_, number_, "%.2f", "number", update_);
    ImGui::End();
    end_fields(ui_);
    ImGui::Render();
  }
  void type(std::u32string_view text) {
    for (const char32_t c : text) draw({{"", c}});
  }
  void press(const std::string& key, bool control = false, bool shift = false) {
    draw({{key, 0, control, shift}});
  }
  void click(float y) {
    ImGui::GetIO().MousePos = {150, y + 8};
    draw();
    ImGui::GetIO().MouseDown[0] = true;
    draw();
    ImGui::GetIO().MouseDown[0] = false;
    draw();
  }
  void focus_a() {
    focuses_a_ = true;
    draw();
  }

  ImFontAtlas atlas_;
  Ui ui_;
  std::string a_ = "first", b_ = "second";
  double number_ = 0.5;
  NumberUpdate update_ = NumberUpdate::WhenComplete;
  bool focuses_a_ = false, number_changed_ = false;
};

TEST_F(TextFieldTest, AcceptsTextOfAnyScript) {
  focus_a();
  type(U"\u05E9\u05DC\u05D5\u05DD \u4E2D e\u0301 \U0001F600");
  EXPECT_EQ(a_, "\u05E9\u05DC\u05D5\u05DD \u4E2D e\u0301 \U0001F600");
}

// The cursor passes a letter with its accent, and an emoji, in one step.
TEST_F(TextFieldTest, ErasesClusters) {
  focus_a();
  type(U"xe\u0301\U0001F600");
  press("Backspace");
  EXPECT_EQ(a_, "xe\u0301");
  press("Backspace");
  EXPECT_EQ(a_, "x");
}

TEST_F(TextFieldTest, SelectsAllAtFirstClick) {
  click(100);
  type(U"new");
  EXPECT_EQ(a_, "new");
  EXPECT_EQ(b_, "second");
}

TEST_F(TextFieldTest, MovesFocusByTab) {
  focus_a();
  press("Tab");
  draw();
  type(U"b");
  EXPECT_EQ(b_, "b");
  press("Tab", false, true);
  draw();
  type(U"a");
  EXPECT_EQ(a_, "a");
  press("Tab", false, true);  // from the first field to the last
  draw();
  type(U"2");
  press("Enter");
  EXPECT_EQ(number_, 2);
}

TEST_F(TextFieldTest, LeavesKeysOfDialogsUnhandled) {
  focus_a();
  for (const char* key : {"Up", "Down", "Enter"}) {
    focus_a();
    press(key);
    EXPECT_FALSE(ui_.strokes.front().is_handled) << key;
  }
  EXPECT_EQ(a_, "first");
  EXPECT_FALSE(ui_.fields.has_keyboard());  // Return ends the input
}

TEST_F(TextFieldTest, UndoesAndRedoesChanges) {
  focus_a();
  type(U"ab");
  press("z", true);
  EXPECT_EQ(a_, "a");
  press("z", true);
  EXPECT_EQ(a_, "first");
  press("y", true);
  EXPECT_EQ(a_, "a");
}

TEST_F(TextFieldTest, FollowsTextChangedByProgram) {
  focus_a();
  type(U"ab");
  a_ = "other";
  draw();
  type(U"c");  // replaces the selected text
  EXPECT_EQ(a_, "c");
}

TEST_F(TextFieldTest, UpdatesNumberWhenComplete) {
  click(300);
  type(U"1.25");
  EXPECT_EQ(number_, 0.5);
  press("Enter");
  EXPECT_EQ(number_, 1.25);
  // The click on a field that is drawn before the number's also completes the input.
  click(300);
  type(U"3");
  click(100);
  EXPECT_EQ(number_, 3);
  EXPECT_TRUE(number_changed_);
}

TEST_F(TextFieldTest, UpdatesNumberWhileTyping) {
  update_ = NumberUpdate::WhileTyping;
  click(300);
  type(U"12");
  EXPECT_EQ(number_, 12);
  type(U"x");
  EXPECT_EQ(number_, 12);
}

TEST_F(TextFieldTest, IgnoresInvalidNumbers) {
  click(300);
  type(U"1,5");
  press("Enter");
  draw();
  EXPECT_EQ(number_, 0.5);
  EXPECT_FALSE(number_changed_);
}

TEST_F(TextFieldTest, LosesFocusWhenNotDrawn) {
  focus_a();
  EXPECT_TRUE(ui_.fields.has_keyboard());
  begin_fields(ui_);
  end_fields(ui_);
  EXPECT_FALSE(ui_.fields.has_keyboard());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
