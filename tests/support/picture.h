// Helpers of picture tests: a PNG decoder and an XML check.
#pragma once

#include <string>
#include <string_view>

#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope::testing {

// Throws std::runtime_error if `png` is no valid PNG file.
Image decode_png(std::string_view png);

Colour pixel(const Image& image, int x, int y);

// First error in the tags, attributes, entities or nesting of the XML document `text`; empty if
// there is none.
std::string xml_error(std::string_view text);

}  // namespace attnscope::testing
