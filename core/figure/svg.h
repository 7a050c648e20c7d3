// Display lists as SVG 1.1: real text, one image for each heat map. (Cairo's SVG surface would
// turn text into outlines that nobody can search or edit.)
#pragma once

#include <string>

#include "core/figure/display_list.h"
#include "core/figure/png.h"

namespace attnscope {

std::string encode_svg(const DisplayList& list, const PictureMetadata& metadata);

}  // namespace attnscope
