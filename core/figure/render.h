// Export of display lists to PNG, SVG and PDF, with Cairo and Pango (Inter, DejaVu Sans, and the
// installed fonts for other scripts). Used by the window and the command line. Output is
// deterministic: files contain no date and no random id.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "core/figure/display_list.h"
#include "core/figure/image.h"
#include "core/figure/png.h"

namespace attnscope {

const TextMeasure& file_text_measure();  // measures with Pango; thread-safe

// Resolution of heat maps in SVG and PDF, in pixels per unit.
inline constexpr int kVectorPixels = 4;

// Throws InputError if a side of the image exceeds 16384 pixels.
Image render_image(const DisplayList& list, double scale);
std::string encode_pdf(const DisplayList& list, const PictureMetadata& metadata);

struct PictureFormat {
  const char* ending;  // ".png"
  bool has_pixels;     // true for raster formats, which have a scale
  // `scale`: pixels per unit; ignored unless has_pixels.
  std::string (*encode)(const DisplayList& list, double scale, const PictureMetadata& metadata);
};
std::span<const PictureFormat> picture_formats();
// Format for the file name's extension; null if unknown.
const PictureFormat* picture_format(const std::filesystem::path& path);

// Throws InputError if write_picture() does not support the format. Call it before long work.
void check_picture_name(const std::filesystem::path& path);

// Writes the format of the file name's extension; throws InputError if the extension is unknown.
// Writes to a temporary file, then renames it. All formats contain the metadata.
void write_picture(const std::filesystem::path& path, const DisplayList& list, double scale,
                   const PictureMetadata& metadata);

}  // namespace attnscope
