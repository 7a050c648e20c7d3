// Helpers of picture tests: reading PNG files and an XML check.
#pragma once

#include <string>
#include <string_view>

#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope::testing {

// Throws std::runtime_error if the file is invalid.
Image decode_png(std::string_view png);

Colour pixel(const Image& image, int x, int y);

// Error in `text` as an XML document (as far as SVG writers may err: tags, attributes, entities,
// nesting); empty if it is well-formed.
std::string xml_error(std::string_view text);

}  // namespace attnscope::testing
