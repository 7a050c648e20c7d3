// Fonts of the window: DejaVu Sans, rasterised at a few sizes.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope::window {

class Fonts {
 public:
  // Fills the atlas for `scale` pixels per unit. Loads common characters, or all supported ones if
  // is_drawable() was called with an uncommon one. Requires an ImGui context only from ImGui 1.92
  // on. The caller creates the atlas texture. Without DejaVu, uses another sans-serif font and sets
  // notice(). `with_lecture`: also load the large sizes.
  void load(ImFontAtlas& atlas, double scale, bool with_lecture = false);
  double scale() const { return scale_; }  // 0: not loaded
  bool has_lecture() const { return !lecture.empty(); }
  // Makes is_drawable() report missing characters to this object, which must not move afterwards.
  void track_missing_glyphs() { ImGui::GetIO().UserData = this; }
  // True if is_drawable() was called with characters that load() would add now.
  bool lacks_glyphs() const { return lacks_glyphs_; }
  void report_missing(char32_t character);
  static bool is_common(char32_t character);
  const std::string& notice() const { return notice_; }

  ImFont* body = nullptr;  // kBodySize units
  ImFont* bold = nullptr;
  ImFont* small = nullptr;  // for hints and units
  ImFont* tiny = nullptr;   // determines the height of thin sliders
  ImFont* title = nullptr;  // bold

  // Fonts readable from the last row of a lecture hall, largest first; empty if not loaded.
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
    bool is_bold;
  };
  std::vector<Baked> baked_;
  std::string notice_;
  double scale_ = 0;
  bool loads_all_ = false, lacks_glyphs_ = false;
};

inline constexpr double kBodySize = 14;  // units
inline constexpr double kMinLectureSize = 18;

float baked_size(const ImFont* font);                         // pixels
float ascent(ImFont* font, float size);                       // from line top to baseline, pixels
float advance(ImFont* font, float size, char32_t character);  // pixels

// True if the window's font has a glyph for this character.
bool is_drawable(char32_t character);
// Text as the window can show it: characters without a glyph as code points ("U+4E2D U+6587"),
// invalid bytes as "0xE4".
std::string on_screen(std::string_view text);

// Text widths on the screen, in units (pixels divided by the scale).
class ScreenMeasure : public TextMeasure {
 public:
  ScreenMeasure(const Fonts& fonts, double scale) : fonts_(fonts), scale_(scale) {}
  double width(const std::string& text, double size, bool bold) const override;

 private:
  const Fonts& fonts_;
  double scale_;
};

}  // namespace attnscope::window
