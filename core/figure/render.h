// Display lists into files: PNG, SVG, PDF, by Cairo with Pango (DejaVu Sans; any script that the
// installed fonts can set). The window and the command line both export through here. The same
// list gives the same bytes: no file holds a date or a random id.
#pragma once

#include <filesystem>

#include "core/figure/display_list.h"
#include "core/figure/image.h"
#include "core/figure/png.h"

namespace attnscope {

const TextMeasure& file_text_measure();  // Pango's; for any thread

// Heat maps in SVG and PDF are images of this many pixels per unit.
inline constexpr int kVectorPixels = 4;

// InputError when the picture would have more than 16384 pixels a side.
Image render_image(const DisplayList& list, double scale);
std::string encode_pdf(const DisplayList& list, const PictureMetadata& metadata);

// InputError where write_picture would not know the format: for work that ends in a picture, before
// it begins.
void check_picture_name(const std::filesystem::path& path);

// By the file name's extension (.png, .svg, .pdf); InputError for another. Written to a temporary
// name and renamed. `scale`: pixels per unit, PNG only. SVG and PDF hold the metadata, too.
void write_picture(const std::filesystem::path& path, const DisplayList& list, double scale,
                   const PictureMetadata& metadata);

}  // namespace attnscope
