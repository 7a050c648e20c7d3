// Colours and spacing of the window, light and dark; muted except for one accent colour.
#pragma once

#include <imgui.h>

#include "core/figure/display_list.h"

namespace attnscope::window {

struct Look {
  bool dark = false;
  ImVec4 page;     // background of the picture
  ImVec4 panel;    // side panels, menus
  ImVec4 field;    // text fields and sliders
  ImVec4 raised;   // buttons, chips
  ImVec4 hovered;  // fields and buttons under the pointer
  ImVec4 line;     // hairlines between panels
  ImVec4 text, faint, accent, on_accent;
  ImVec4 query, key;  // colours of the pair under the pointer
  ImVec4 warning, error;

  static const Look& light();
  static const Look& dark_look();
  const Theme& theme() const { return dark ? Theme::dark() : Theme::light(); }
};

ImU32 packed(const ImVec4& colour, float alpha = 1);

// Applies the look to ImGui's style; lengths are in units times `scale`.
void apply(const Look& look, double scale);

}  // namespace attnscope::window
