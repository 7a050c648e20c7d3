// PNG files, written and read with libpng.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/figure/image.h"

namespace attnscope {

// Text chunks of an image in UTF-8, by keyword (1 to 79 printable ASCII characters). "Title" is the
// title, kExperimentKeyword the JSON of the session that produced the image.
using PictureMetadata = std::map<std::string, std::string>;
inline constexpr char kExperimentKeyword[] = "Experiment";

// Encodes for speed rather than size: zlib level 1 without filters, four times as fast as libpng's
// defaults on a grid of maps. The file is RGB if every pixel is opaque. `dots_per_inch`: resolution
// in print; 0 if unspecified.
std::string encode_png(const Image& image, const PictureMetadata& metadata,
                       double dots_per_inch = 0);

// True if the bytes start with a PNG signature.
bool is_png(std::string_view bytes);

// Reads the text chunks of a PNG (tEXt, zTXt and iTXt), in UTF-8. Throws InputError if the file is
// not a PNG, truncated or damaged.
PictureMetadata read_png_metadata(const std::filesystem::path& path);

}  // namespace attnscope
