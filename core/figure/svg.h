// SVG 1.1 export of display lists, with text as text and one image per heat map. (Cairo's SVG
// surface converts text to outlines, which cannot be searched or edited.)
#pragma once

#include <string>

#include "core/figure/display_list.h"
#include "core/figure/png.h"

namespace attnscope {

std::string encode_svg(const DisplayList& list, const PictureMetadata& metadata);

}  // namespace attnscope
