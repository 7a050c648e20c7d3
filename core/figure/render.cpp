#include "core/figure/render.h"

#include <cairo-pdf.h>
#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/join_words.h"
#include "core/figure/cairo_image.h"
#include "core/figure/cairo_painter.h"
#include "core/figure/plain_text.h"
#include "core/figure/svg.h"

namespace attnscope {
namespace {

constexpr double kMaxPixels = 16384;  // maximum pixels per side
constexpr double kUnitsPerInch = 96, kPointsPerInch = 72;
constexpr double kPointsPerUnit = kPointsPerInch / kUnitsPerInch;

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_SUCCESS) return;
  throw WorkError(std::string("picture: cannot draw: ") + cairo_status_to_string(status));
}

void check_size(const DisplayList& list, double scale) {
  const double width = list.width * scale, height = list.height * scale;
  if (width >= 1 && height >= 1 && width <= kMaxPixels && height <= kMaxPixels) return;
  throw InputError("picture: expected 1 to " + brief(kMaxPixels, 6) + " pixels a side, found " +
                   brief(width, 6) + " x " + brief(height, 6));
}

// Number of whole pixels that cover this length. Ignores rounding errors.
int pixels_of(double length, double scale) {
  constexpr double kRounding = 1e-6;
  return static_cast<int>(std::ceil(length * scale - kRounding));
}

cairo_status_t append(void* closure, const unsigned char* data, unsigned length) {
  static_cast<std::string*>(closure)->append(reinterpret_cast<const char*>(data), length);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

Image render_image(const DisplayList& list, double scale) {
  check_size(list, scale);
  const SurfacePtr surface(cairo_image_surface_create(
      CAIRO_FORMAT_ARGB32, pixels_of(list.width, scale), pixels_of(list.height, scale)));
  check(cairo_surface_status(surface.get()));
  const CairoPtr cairo(cairo_create(surface.get()));
  paint(cairo.get(), list, scale);
  check(cairo_status(cairo.get()));
  return to_image(surface.get());
}

std::string encode_pdf(const DisplayList& list, const PictureMetadata& metadata) {
  check_size(list, 1);
  std::string file;
  const SurfacePtr surface(cairo_pdf_surface_create_for_stream(
      append, &file, list.width * kPointsPerUnit, list.height * kPointsPerUnit));
  check(cairo_surface_status(surface.get()));
  // Cairo would write the current time, which makes files differ.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  for (const auto& [keyword, text] : metadata) {
    const auto field = keyword == "Title" ? CAIRO_PDF_METADATA_TITLE : CAIRO_PDF_METADATA_KEYWORDS;
    if (keyword != "Title" && keyword != kExperimentKeyword) continue;
    cairo_pdf_surface_set_metadata(surface.get(), field, plain_text(text).c_str());
  }
  const CairoPtr cairo(cairo_create(surface.get()));
  cairo_scale(cairo.get(), kPointsPerUnit, kPointsPerUnit);
  paint(cairo.get(), list, 0);
  check(cairo_status(cairo.get()));
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  return file;
}

std::span<const PictureFormat> picture_formats() {
  static constexpr PictureFormat kFormats[] = {
      {".png", true,
       [](const DisplayList& list, double scale, const PictureMetadata& metadata) {
         return encode_png(render_image(list, scale), metadata, scale * kUnitsPerInch);
       }},
      {".svg", false,
       [](const DisplayList& list, double, const PictureMetadata& metadata) {
         return encode_svg(list, metadata);
       }},
      {".pdf", false,
       [](const DisplayList& list, double, const PictureMetadata& metadata) {
         return encode_pdf(list, metadata);
       }},
  };
  return kFormats;
}

const PictureFormat* picture_format(const std::filesystem::path& path) {
  const auto formats = picture_formats();
  const auto found = std::ranges::find_if(
      formats, [&](const PictureFormat& format) { return path.extension() == format.ending; });
  return found == formats.end() ? nullptr : &*found;
}

void check_picture_name(const std::filesystem::path& path) {
  if (picture_format(path) != nullptr) return;
  std::vector<std::string> endings;
  for (const PictureFormat& format : picture_formats()) endings.emplace_back(format.ending);
  const std::string found = path.extension().string();
  throw InputError(path.string() + ": expected a file name that ends in " + alternatives(endings) +
                   ", found " + (found.empty() ? "none of them" : found));
}

void write_picture(const std::filesystem::path& path, const DisplayList& list, double scale,
                   const PictureMetadata& metadata) {
  check_picture_name(path);
  write_file(path, picture_format(path)->encode(list, scale, metadata));
}

}  // namespace attnscope
