#include "core/figure/display_list.h"

namespace attnscope {

const Theme& Theme::light() {
  static const Theme theme{.background = {255, 255, 255, 255},
                           .text = {27, 31, 36, 255},
                           .faint_text = {91, 99, 110, 255},
                           .line = {176, 183, 192, 255},
                           .accent = {196, 57, 0, 255}};
  return theme;
}

const Theme& Theme::dark() {
  static const Theme theme{.background = {24, 26, 31, 255},
                           .text = {233, 236, 240, 255},
                           .faint_text = {160, 168, 180, 255},
                           .line = {84, 92, 104, 255},
                           .accent = {255, 159, 67, 255}};
  return theme;
}

}  // namespace attnscope
