// Fonts of the window: Inter with figures of equal width, and DejaVu Sans for characters that Inter
// lacks, rasterised at a few sizes. shaped_glyphs.h has the glyphs of other scripts.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/window/widgets/screen_text.h"
#include "app/window/widgets/shaped_glyphs.h"
#include "core/figure/display_list.h"

namespace attnscope::window {

// A font file in memory.
struct FontFace {
  std::string family;
  std::vector<unsigned char> data;  // empty: none
  double line_height = 1;           // in font sizes
  double figure_advance = 0;        // width of the widest figure in font sizes
};

class Fonts {
 public:
  // Fills the atlas for `scale` pixels per unit. Loads common characters, or all supported ones if
  // is_drawable() was called with an uncommon one. Requires an ImGui context only from ImGui 1.92
  // on. The caller creates the atlas texture. Without both fonts, uses another sans-serif font and
  // sets notice(). `with_lecture`: also load the large sizes.
  void load(ImFontAtlas& atlas, double scale, bool with_lecture = false);
  double scale() const { return scale_; }  // 0: not loaded
  bool has_lecture() const { return !lecture.empty(); }
  // Makes on_screen() and is_drawable() use this object, which must not move afterwards.
  void track_missing_glyphs() { ImGui::GetIO().UserData = this; }
  // True if load() would add characters that is_drawable() was called with, or make space for
  // shaped glyphs.
  bool lacks_glyphs() const { return lacks_glyphs_ || shaped_.is_exhausted(); }
  void report_missing(char32_t character);
  // Rasterises glyphs that the frame shows for the first time; update_font_texture() copies them.
  // Returns true if there were such glyphs or lacks_glyphs(): lay out the frame again before
  // showing it.
  bool rasterise_missing(const ImDrawData& data);
  static bool is_common(char32_t character);
  const std::string& notice() const { return notice_; }
  ShapedGlyphs& shaped() { return shaped_; }
  LineCache& lines() { return lines_; }

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

  // A baked font and ImGui's size for text of a font size in pixels. ImGui's sizes are line
  // heights, whose ratio to the font size depends on the font.
  struct Sized {
    ImFont* font;
    float size;
  };
  Sized sized(double font_size, bool is_bold) const;

 private:
  struct Baked {
    ImFont* font;
    double line_height;  // pixels
    bool is_bold;
    double font_size;  // pixels
  };
  ImFont* bake(ImFontAtlas& atlas, double size, bool is_bold);
  ImFont* nearest(double line_height, bool is_bold) const;

  FontFace regular_, bold_, fallback_regular_, fallback_bold_;
  std::vector<Baked> baked_;
  ShapedGlyphs shaped_;
  LineCache lines_;
  std::string notice_;
  double scale_ = 0;
  bool loads_all_ = false, lacks_glyphs_ = false;
};

inline constexpr double kBodySize = 15;      // units; line height
inline constexpr double kFigureSize = 12.5;  // units; font size in views, similar to the body's
inline constexpr double kMinLectureSize = 18;

float baked_size(const ImFont* font);                         // pixels
float ascent(ImFont* font, float size);                       // from line top to baseline, pixels
float advance(ImFont* font, float size, char32_t character);  // pixels

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
