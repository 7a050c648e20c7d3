// Display lists into files: PNG, SVG, PDF, by Cairo with Pango (DejaVu Sans; any script that the
// installed fonts can set). The window and the command line both export through here.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/figure/display_list.h"

namespace attnscope {

const TextMeasure& file_text_measure();  // Pango's

struct Image {  // 8-bit RGBA, not premultiplied, rows from the top
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
};
Image render_image(const DisplayList& list, double scale);

// PNG text chunks and SVG/PDF metadata; "Experiment" holds the JSON that made the picture.
using PictureMetadata = std::map<std::string, std::string>;

// By the file name's extension (.png, .svg, .pdf); InputError for another. Written to a temporary
// name and renamed. `scale`: pixels per unit, PNG only.
void write_picture(const std::filesystem::path& path, const DisplayList& list, double scale,
                   const PictureMetadata& metadata);
std::string encode_png(const Image& image, const PictureMetadata& metadata);
// The metadata of a PNG written by write_picture. InputError when it is no PNG.
PictureMetadata read_png_metadata(const std::filesystem::path& path);

}  // namespace attnscope
