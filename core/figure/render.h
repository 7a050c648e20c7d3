// Display lists into files: PNG, SVG, PDF, by Cairo with Pango (DejaVu Sans; any script that the
// installed fonts can set). The window and the command line both export through here. The same
// list gives the same bytes: no file holds a date or a random id.
#pragma once

#include <filesystem>
#include <span>
#include <string>

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

struct PictureFormat {
  const char* ending;  // ".png"
  bool has_pixels;     // made of pixels at a scale; else of lines and text
  // `scale`: pixels per unit, if has_pixels.
  std::string (*encode)(const DisplayList& list, double scale, const PictureMetadata& metadata);
};
std::span<const PictureFormat> picture_formats();
// By the file name's ending; null if there is none.
const PictureFormat* picture_format(const std::filesystem::path& path);

// Throws InputError if write_picture() does not know the format: call it before long work.
void check_picture_name(const std::filesystem::path& path);

// Writes in the format of the file name's ending; InputError for an unknown one. The file is
// written under a temporary name and renamed. All formats hold the metadata.
void write_picture(const std::filesystem::path& path, const DisplayList& list, double scale,
                   const PictureMetadata& metadata);

}  // namespace attnscope
