#include "core/figure/text_shaping.h"

#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/figure/cairo_image.h"
#include "core/figure/pango_text.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

enum class Direction { None, LeftToRight, RightToLeft };

Direction direction_of(std::int32_t code) {
  if (code < 0) return Direction::None;
  switch (utf8proc_get_property(code)->bidi_class) {
    case UTF8PROC_BIDI_CLASS_L:
      return Direction::LeftToRight;
    case UTF8PROC_BIDI_CLASS_R:
    case UTF8PROC_BIDI_CLASS_AL:
      return Direction::RightToLeft;
    default:
      return Direction::None;
  }
}

// Clusters of a run in logical order.
std::vector<ShapedCluster> clusters_of(PangoGlyphItem* run, const char* text) {
  std::vector<ShapedCluster> clusters;
  const bool is_rtl = (run->item->analysis.level & 1) != 0;
  const PangoGlyphInfo* glyphs = run->glyphs->glyphs;
  PangoGlyphItemIter iterator;
  for (gboolean is_valid = pango_glyph_item_iter_init_start(&iterator, run, text); is_valid;
       is_valid = pango_glyph_item_iter_next_cluster(&iterator)) {
    ShapedCluster cluster{.begin = static_cast<std::size_t>(iterator.start_index),
                          .end = static_cast<std::size_t>(iterator.end_index),
                          .is_rtl = is_rtl};
    const int step = is_rtl ? -1 : 1;
    for (int glyph = iterator.start_glyph; glyph != iterator.end_glyph; glyph += step) {
      cluster.advance += glyphs[glyph].geometry.width / (PANGO_SCALE * kMeasuredSize);
      cluster.has_glyphs &= (glyphs[glyph].glyph & PANGO_GLYPH_UNKNOWN_FLAG) == 0;
    }
    clusters.push_back(cluster);
  }
  return clusters;
}

// Sets the raster's pixels. Transparent ones become white, the colour of the text, so that no dark
// edges appear where a texture is interpolated.
void set_pixels(cairo_surface_t* surface, TextRaster& raster) {
  raster.image = to_image(surface);
  std::vector<std::uint8_t>& rgba = raster.image.rgba;
  for (std::size_t i = 0; i < rgba.size(); i += 4) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      std::uint8_t& value = rgba[i + channel];
      if (rgba[i + 3] == 0) value = 255;
      raster.is_coloured |= value != 255;
    }
  }
}

}  // namespace

bool is_rtl_label(std::string_view text) {
  if (!text.empty() && text[0] >= '0' && text[0] <= '9') return false;
  bool is_rtl = false;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const Direction direction = direction_of(c.code);
    if (direction == Direction::LeftToRight) return false;
    is_rtl |= direction == Direction::RightToLeft;
    at += c.size;
  }
  return is_rtl;
}

bool is_rtl_paragraph(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const Direction direction = direction_of(c.code);
    if (direction != Direction::None) return direction == Direction::RightToLeft;
    at += c.size;
  }
  return false;
}

std::vector<ShapedCluster> shape_line(std::string_view line, bool is_rtl) {
  std::vector<ShapedCluster> clusters;
  const std::string text(line);
  const PangoLayoutPtr layout = make_layout(text, kMeasuredSize, false, is_rtl);
  const PangoLayoutLine* first_line = pango_layout_get_line_readonly(layout.get(), 0);
  for (const GSList* node = first_line->runs; node != nullptr; node = node->next) {
    std::vector<ShapedCluster> run =
        clusters_of(static_cast<PangoGlyphItem*>(node->data), text.c_str());
    if (!run.empty() && run.front().is_rtl) std::reverse(run.begin(), run.end());
    clusters.insert(clusters.end(), run.begin(), run.end());
  }
  return clusters;
}

TextRaster rasterise_line(std::string_view line, bool is_rtl, double size, bool bold) {
  const PangoLayoutPtr layout = make_layout(std::string(line), size, bold, is_rtl);
  PangoRectangle ink;
  pango_layout_get_pixel_extents(layout.get(), &ink, nullptr);
  const double baseline =
      static_cast<double>(pango_layout_get_baseline(layout.get())) / PANGO_SCALE;
  constexpr int kMargin = 1;  // pixels, for antialiasing
  TextRaster raster;
  raster.left = ink.x - kMargin;
  raster.top = static_cast<int>(std::floor(ink.y - baseline)) - kMargin;
  raster.image.width = ink.width + 2 * kMargin;
  raster.image.height = ink.height + 2 * kMargin + 1;
  const SurfacePtr surface(
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, raster.image.width, raster.image.height));
  if (cairo_surface_status(surface.get()) != CAIRO_STATUS_SUCCESS) {
    throw WorkError("text: out of memory for glyphs");
  }
  const CairoPtr cairo(cairo_create(surface.get()));
  cairo_set_source_rgb(cairo.get(), 1, 1, 1);
  cairo_move_to(cairo.get(), -raster.left, -raster.top - baseline);
  pango_cairo_show_layout(cairo.get(), layout.get());
  set_pixels(surface.get(), raster);
  return raster;
}

}  // namespace attnscope
