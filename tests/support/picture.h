// What tests of pictures share: reading PNG files and an XML check.
#pragma once

#include <string>
#include <string_view>

#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope::testing {

// Throws std::runtime_error.
Image decode_png(std::string_view png);

Colour pixel(const Image& image, int x, int y);

// Why `text` is no well-formed XML document (as far as SVG writers go wrong: tags, attributes,
// entities, nesting); empty when it is.
std::string xml_fault(std::string_view text);

}  // namespace attnscope::testing
