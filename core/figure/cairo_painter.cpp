#include "core/figure/cairo_painter.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/base/error.h"
#include "core/figure/cairo_image.h"
#include "core/figure/heat_map.h"
#include "core/figure/pango_text.h"
#include "core/figure/render.h"

namespace attnscope {
namespace {

class Painter {
 public:
  Painter(cairo_t* cairo, double scale) : cairo_(cairo), scale_(scale) {
    if (scale_ > 0) cairo_scale(cairo_, scale_, scale_);
  }

  void operator()(const FilledBox& item) {
    set_colour(item.colour);
    const Box box = snap_box(item.box);
    const double r = std::min({item.radius, box.width / 2, box.height / 2});
    if (r > 0) {
      constexpr double kQuarter = std::numbers::pi / 2;
      cairo_new_sub_path(cairo_);
      cairo_arc(cairo_, box.right() - r, box.y + r, r, -kQuarter, 0);
      cairo_arc(cairo_, box.right() - r, box.bottom() - r, r, 0, kQuarter);
      cairo_arc(cairo_, box.x + r, box.bottom() - r, r, kQuarter, 2 * kQuarter);
      cairo_arc(cairo_, box.x + r, box.y + r, r, 2 * kQuarter, 3 * kQuarter);
      cairo_close_path(cairo_);
    } else {
      cairo_rectangle(cairo_, box.x, box.y, box.width, box.height);
    }
    cairo_fill(cairo_);
  }

  void operator()(const OutlinedBox& item) {
    const double thickness = set_stroke(item.colour, item.thickness);
    const double x = on_pixel(item.box.x, thickness), y = on_pixel(item.box.y, thickness);
    cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_MITER);
    cairo_rectangle(cairo_, x, y, on_pixel(item.box.right(), thickness) - x,
                    on_pixel(item.box.bottom(), thickness) - y);
    cairo_stroke(cairo_);
  }

  void operator()(const Line& item) {
    if (item.points.empty()) return;
    const double thickness = set_stroke(item.colour, item.thickness);
    const bool is_segment = item.points.size() == 2;
    const bool is_vertical = is_segment && item.points[0].x == item.points[1].x;
    const bool is_horizontal = is_segment && item.points[0].y == item.points[1].y;
    const bool is_straight = is_vertical || is_horizontal;
    cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(cairo_, is_straight ? CAIRO_LINE_CAP_BUTT : CAIRO_LINE_CAP_ROUND);
    for (const Point& p : item.points) {
      cairo_line_to(cairo_, is_vertical ? on_pixel(p.x, thickness) : p.x,
                    is_horizontal ? on_pixel(p.y, thickness) : p.y);
    }
    cairo_stroke(cairo_);
  }

  void operator()(const Text& item) { draw_text(cairo_, item); }

  void operator()(const HeatMap& item) {
    const double pixels = scale_ > 0 ? scale_ : kVectorPixels;
    const double left = std::round(item.box.x * pixels), top = std::round(item.box.y * pixels);
    const int width = static_cast<int>(std::round(item.box.right() * pixels) - left);
    const int height = static_cast<int>(std::round(item.box.bottom() * pixels) - top);
    if (width < 1 || height < 1) return;
    stretch(rasterise(item, width, height),
            {left / pixels, top / pixels, width / pixels, height / pixels}, CAIRO_FILTER_NEAREST);
  }

  void operator()(const ColourImage& item) {
    const Box box = snap_box(item.box);
    if (item.colours.empty() || !(box.width > 0) || !(box.height > 0)) return;
    const double drawn_width = box.width * (scale_ > 0 ? scale_ : kVectorPixels);
    const bool is_reduced = static_cast<double>(item.colours.dim(1)) > drawn_width;
    stretch(image_of(item.colours), box, is_reduced ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST);
  }

  void operator()(const Clip& item) {
    if (item.box) {
      cairo_save(cairo_);
      const Box box = snap_box(*item.box);
      cairo_rectangle(cairo_, box.x, box.y, box.width, box.height);
      cairo_clip(cairo_);
      ++open_clips_;
    } else if (open_clips_ > 0) {
      cairo_restore(cairo_);
      --open_clips_;
    }
  }

  // Fills the whole surface, including partial pixels at the edges of a page.
  void fill(const Colour& colour) {
    set_colour(colour);
    cairo_paint(cairo_);
  }

  void close_clips() {
    while (open_clips_ > 0) (*this)(Clip{});
  }

 private:
  void stretch(const Image& image, const Box& box, cairo_filter_t filter) {
    const SurfacePtr surface = to_surface(image);
    cairo_save(cairo_);
    cairo_rectangle(cairo_, box.x, box.y, box.width, box.height);
    cairo_clip(cairo_);
    cairo_translate(cairo_, box.x, box.y);
    cairo_scale(cairo_, box.width / image.width, box.height / image.height);
    cairo_set_source_surface(cairo_, surface.get(), 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo_), filter);
    if (scale_ > 0 && filter != CAIRO_FILTER_NEAREST) {  // keeps the edges opaque
      cairo_pattern_set_extend(cairo_get_source(cairo_), CAIRO_EXTEND_PAD);
    }
    cairo_paint(cairo_);
    cairo_restore(cairo_);
  }

  void set_colour(const Colour& c) {
    cairo_set_source_rgba(cairo_, c.r / 255.0, c.g / 255.0, c.b / 255.0, c.a / 255.0);
  }

  double set_stroke(const Colour& colour, double thickness) {
    set_colour(colour);
    if (scale_ > 0) thickness = std::max(1.0, std::round(thickness * scale_)) / scale_;
    cairo_set_line_width(cairo_, thickness);
    return thickness;
  }

  // Nearest coordinate at which a stroke of this thickness covers whole pixels.
  double on_pixel(double coordinate, double thickness) const {
    if (scale_ <= 0) return coordinate;
    const double half = std::fmod(std::round(thickness * scale_), 2) / 2;
    return (std::round(coordinate * scale_ - half) + half) / scale_;
  }

  Box snap_box(const Box& box) const {
    if (scale_ <= 0) return box;
    const double x = on_pixel(box.x, 0), y = on_pixel(box.y, 0);
    return {x, y, on_pixel(box.right(), 0) - x, on_pixel(box.bottom(), 0) - y};
  }

  cairo_t* cairo_;
  double scale_;
  int open_clips_ = 0;
};

}  // namespace

void paint(cairo_t* cairo, const DisplayList& list, double scale) {
  Painter painter(cairo, scale);
  painter.fill(list.background);
  for (const Item& item : list.items) std::visit(painter, item);
  painter.close_clips();
}

}  // namespace attnscope
