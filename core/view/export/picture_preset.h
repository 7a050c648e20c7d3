// Picture presets: sizes, fonts and captions for common publications.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/view/export/picture.h"

namespace attnscope {

struct PicturePreset {
  std::string id;                           // "column"
  std::string label;                        // "One column"
  std::string summary;                      // one sentence: size, font, omitted parts
  double inches_wide = 0, inches_high = 0;  // inches_high 0: height of the content
  double points = 0;                        // font size
  double dots_per_inch = 0;
  bool title = false, caption = false;  // false for papers, which add their own text
};

// Paper column, two columns, slide, poster.
const std::vector<PicturePreset>& picture_presets();
const PicturePreset& picture_preset(std::string_view id);  // throws InputError

// Applies the preset; keeps colours and texts.
void apply(const PicturePreset& preset, PictureOptions& options);
bool matches_preset(const PicturePreset& preset, const PictureOptions& options);

}  // namespace attnscope
