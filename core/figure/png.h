// PNG files, written and read with libpng.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/figure/image.h"

namespace attnscope {

// Text that a picture carries, by keyword (1 to 79 printable ASCII characters), in UTF-8.
// "Title" names the picture, kExperimentKeyword holds the JSON that made it.
using PictureMetadata = std::map<std::string, std::string>;
inline constexpr char kExperimentKeyword[] = "Experiment";

// Fast rather than small: zlib level 1, no filters, which for a grid of maps takes a quarter of the
// time of libpng's defaults; RGB where every pixel is opaque.
// `dots_per_inch`: the size in print, for programs that ask; 0: not said.
std::string encode_png(const Image& image, const PictureMetadata& metadata,
                       double dots_per_inch = 0);

// Whether a file that begins like this means to be a PNG.
bool is_png(std::string_view bytes);

// The text of a PNG (chunks tEXt, zTXt and iTXt), in UTF-8. InputError when the file is no PNG, is
// cut short or damaged.
PictureMetadata read_png_metadata(const std::filesystem::path& path);

}  // namespace attnscope
