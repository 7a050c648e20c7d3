// Patterns over an image that is read row by row, one token per pixel: pixel i is in row
// floor(i / width) and column i mod width.
#pragma once

#include "core/attention/variant.h"

namespace attnscope {

// Width of an image of `pixels` pixels with width >= height, as nearly square as possible.
Index picture_width(Index pixels);
Index picture_height(Index pixels);

// Parameters "width" and "height", whose product is the length of the sequence.
Parameter picture_width_parameter();
Parameter picture_height_parameter();

// Error message if width times height is not the length; "" if it is, or if the length is unknown.
std::string picture_objection(const Values& values, const Situation& situation);

// Largest length up to `length` of a picture that is at most twice as wide as high.
Index whole_picture(Index length);

}  // namespace attnscope
