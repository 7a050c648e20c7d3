// Image files as model input: PNG, JPEG, BMP, GIF (first frame), TGA, PSD and PNM, by stb_image.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/tensor/tensor.h"

namespace attnscope {

// Reads an image as grey levels 0 .. levels - 1, resized to width x height by averaging the stored
// (not linear) values. Black is 0, white and transparent are levels - 1. Throws InputError "FILE:
// ..." if the file is not an image, is damaged, or is too large to decode.
IntTensor image_pixels(const std::filesystem::path& path, Index width, Index height,
                       Index levels);  // [height, width]

// Like image_pixels() for the bytes of a file; `name` begins the messages.
IntTensor parse_image(const std::string& bytes, const std::string& name, Index width, Index height,
                      Index levels);

// True if the file name has the extension of a supported image format.
bool is_image_file(const std::filesystem::path& path);

// Stored [width, height] of an image. Throws InputError like image_pixels().
std::pair<Index, Index> image_size(const std::filesystem::path& path);
// Like image_size() for the bytes of a file; `name` begins the messages.
std::pair<Index, Index> parse_image_size(const std::string& bytes, const std::string& name);

// Reads an image on a white background, resized to width x height by averaging. Returns colours
// from 0 to 1, [height, width, 3].
Tensor image_colours(const std::filesystem::path& path, Index width, Index height);
// Like image_colours() for the bytes of a file; `name` begins the messages.
Tensor parse_image_colours(const std::string& bytes, const std::string& name, Index width,
                           Index height);

}  // namespace attnscope
