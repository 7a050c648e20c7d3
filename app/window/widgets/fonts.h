// The fonts of the window: DejaVu Sans, baked in a few sizes.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope::window {

class Fonts {
 public:
  // Fills the atlas for this scale (pixels per unit), at first with common characters, with all
  // once any other was asked for. Needs no ImGui context where ImGui is older than 1.92. The atlas'
  // texture is made by the caller. Without DejaVu another sans-serif font serves; `notice` then
  // says so. `lecture`: with the large sizes, too.
  void load(ImFontAtlas& atlas, double scale, bool lecture = false);
  double scale() const { return scale_; }  // 0: nothing is loaded
  bool has_lecture() const { return !lecture.empty(); }
  // Has drawable() tell of what is missing; `this` must stay where it is.
  void watch() { ImGui::GetIO().UserData = this; }
  // Whether load() would bring characters that drawable() was asked for since.
  bool lacking() const { return lacking_; }
  void miss(char32_t character);
  static bool is_common(char32_t character);
  const std::string& notice() const { return notice_; }

  ImFont* body = nullptr;  // kBodySize units
  ImFont* bold = nullptr;
  ImFont* small = nullptr;  // for hints and units
  ImFont* tiny = nullptr;   // for the heights of sliders
  ImFont* title = nullptr;  // bold

  // For the last row of a hall, the largest first; empty where they are not loaded.
  struct Lecture {
    ImFont* text;
    ImFont* title;
  };
  std::vector<Lecture> lecture;

  // The baked font nearest to a size in pixels.
  ImFont* nearest(double pixels, bool is_bold) const;

 private:
  struct Baked {
    ImFont* font;
    double pixels;
    bool bold;
  };
  std::vector<Baked> baked_;
  std::string notice_;
  double scale_ = 0;
  bool all_ = false, lacking_ = false;
};

inline constexpr double kBodySize = 14;  // units
inline constexpr double kLeastLectureSize = 18;

float baked_size(const ImFont* font);                         // pixels
float ascent(ImFont* font, float size);                       // from the top of a line, pixels
float advance(ImFont* font, float size, char32_t character);  // pixels

// Whether the font of the window has a picture of this character.
bool drawable(char32_t character);
// Text as the window can show it: what its font lacks as code points ("U+4E2D U+6587"), broken
// bytes as "\xE4".
std::string on_screen(std::string_view text);

// Text widths on the screen, in units: pixels divided by the scale.
class ScreenMeasure : public TextMeasure {
 public:
  ScreenMeasure(const Fonts& fonts, double scale) : fonts_(fonts), scale_(scale) {}
  double width(const std::string& text, double size, bool bold) const override;

 private:
  const Fonts& fonts_;
  double scale_;
};

}  // namespace attnscope::window
