// Pictures as the pixels that image models read: PNG, JPEG, BMP, GIF (its first frame), TGA, PSD
// and PNM files, through stb_image.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

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

// Whether a file of this name is a picture, by its ending.
bool is_picture_file(const std::filesystem::path& path);

// [width, height] of a picture as it is stored. InputErrors as above.
std::pair<Index, Index> picture_size(const std::filesystem::path& path);

// The colours of a picture that is resized to width x height like the grey levels, on white, each
// from 0 to 1.  [height, width, 3]
Tensor picture_colours(const std::filesystem::path& path, Index width, Index height);

}  // namespace attnscope
