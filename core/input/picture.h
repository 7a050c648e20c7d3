// Pictures as the pixels that image models read: PNG, JPEG, BMP, GIF (its first frame), TGA, PSD
// and PNM files, through stb_image.
#pragma once

#include <filesystem>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope {

// Grey levels 0..levels-1 of a picture that is stretched to width x height: the mean of what a
// pixel covers, as stored (not linear light); black is 0, white and what is transparent levels - 1.
// InputError: "FILE: ..." where it is no picture, damaged, or too large to be unpacked.
IntTensor picture_pixels(const std::filesystem::path& path, Index width, Index height,
                         Index levels);  // [height, width]

// The same from a file's bytes; `name` begins the messages.
IntTensor parse_picture(const std::string& bytes, const std::string& name, Index width,
                        Index height, Index levels);

}  // namespace attnscope
