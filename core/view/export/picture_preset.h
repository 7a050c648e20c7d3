// What a picture is for: sizes, letters and surroundings that suit a place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/view/export/picture.h"

namespace attnscope {

struct PicturePreset {
  std::string id;                           // "column"
  std::string label;                        // "One column"
  std::string summary;                      // one sentence: size, letters, what is left out
  double inches_wide = 0, inches_high = 0;  // high 0: as high as the content
  double points = 0;                        // of the letters
  double dots_per_inch = 0;
  bool title = false, caption = false;  // papers have a caption of their own
};

// For one column of a paper, for two, for a slide, for a poster.
const std::vector<PicturePreset>& picture_presets();
const PicturePreset& picture_preset(std::string_view id);  // InputError

// Colours and texts stay as they were.
void apply(const PicturePreset& preset, PictureOptions& options);
// Whether the options are as the preset has them.
bool holds(const PicturePreset& preset, const PictureOptions& options);

}  // namespace attnscope
