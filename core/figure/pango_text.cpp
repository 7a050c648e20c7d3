#include "core/figure/pango_text.h"

#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <string_view>
#include <tuple>

#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/figure/text_shaping.h"

namespace attnscope {
namespace {

constexpr const char* kFontFamilies = "Inter, DejaVu Sans";  // the first family that has a glyph

using ContextPtr = std::unique_ptr<PangoContext, UnreferenceObject>;

ContextPtr make_context(PangoDirection direction) {
  // The default font map is per thread, and so are objects created from it.
  ContextPtr context(pango_font_map_create_context(pango_cairo_font_map_get_default()));
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context.get(), options);
  cairo_font_options_destroy(options);
  pango_context_set_round_glyph_positions(context.get(), FALSE);
  pango_context_set_base_dir(context.get(), direction);
  return context;
}

// Selects figures of equal width, so that columns of numbers align and animated numbers stand
// still. Disables contextual alternates, which would draw 0x9D as 0×9D.
void set_features(PangoLayout* layout) {
  PangoAttrList* attributes = pango_attr_list_new();
  pango_attr_list_insert(attributes, pango_attr_font_features_new("tnum=1, calt=0"));
  pango_layout_set_attributes(layout, attributes);
  pango_attr_list_unref(attributes);
}

double layout_width(PangoLayout* layout) {
  PangoRectangle logical;
  pango_layout_get_extents(layout, nullptr, &logical);
  return static_cast<double>(logical.width) / PANGO_SCALE;
}

PangoLayoutPtr make_label(const std::string& text, double size, bool bold) {
  const std::string plain = plain_text(text);
  return make_layout(plain, size, bold, is_rtl_label(plain));
}

// Caches text widths: all frames of an animation need them, and measuring one costs tens of
// microseconds.
class PangoMeasure : public TextMeasure {
 public:
  double width(const std::string& text, double size, bool bold) const override {
    if (text.size() > kMaxCachedLength) return layout_width(make_label(text, size, bold).get());
    thread_local std::map<Key, double, std::less<>> cache;
    if (cache.size() >= kMaxCached) cache.clear();
    const std::tuple<std::string_view, double, bool> key(text, size, bold);
    const auto found = cache.lower_bound(key);
    if (found != cache.end() && found->first == key) return found->second;
    const double width = layout_width(make_label(text, size, bold).get());
    cache.emplace_hint(found, Key(text, size, bold), width);
    return width;
  }

 private:
  using Key = std::tuple<std::string, double, bool>;    // text, size in pixels, bold
  static constexpr std::size_t kMaxCachedLength = 200;  // bytes
  static constexpr std::size_t kMaxCached = 20000;      // a few megabytes
};

}  // namespace

PangoLayoutPtr make_layout(const std::string& text, double size, bool bold, bool is_rtl) {
  thread_local const ContextPtr ltr_context = make_context(PANGO_DIRECTION_LTR);
  thread_local const ContextPtr rtl_context = make_context(PANGO_DIRECTION_RTL);
  PangoLayoutPtr layout(pango_layout_new(is_rtl ? rtl_context.get() : ltr_context.get()));
  PangoFontDescription* font = pango_font_description_new();
  pango_font_description_set_family(font, kFontFamilies);
  pango_font_description_set_weight(font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_font_description_set_absolute_size(font, size * PANGO_SCALE);
  pango_layout_set_font_description(layout.get(), font);
  pango_font_description_free(font);
  pango_layout_set_auto_dir(layout.get(), FALSE);
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  set_features(layout.get());
  pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
  return layout;
}

const TextMeasure& file_text_measure() {
  static const PangoMeasure measure;
  return measure;
}

void draw_text(cairo_t* cairo, const Text& text) {
  const PangoLayoutPtr layout = make_label(text.text, text.size, text.bold);
  const double width = layout_width(layout.get());
  const double left = text.align == Align::Start    ? 0
                      : text.align == Align::Middle ? -width / 2
                                                    : -width;
  const double baseline =
      static_cast<double>(pango_layout_get_baseline(layout.get())) / PANGO_SCALE;
  cairo_save(cairo);
  cairo_translate(cairo, text.at.x, text.at.y);
  cairo_rotate(cairo, -text.angle * std::numbers::pi / 180);
  cairo_move_to(cairo, left, kBaselineShift * text.size - baseline);
  const auto channel = [](std::uint8_t v) { return v / 255.0; };
  cairo_set_source_rgba(cairo, channel(text.colour.r), channel(text.colour.g),
                        channel(text.colour.b), channel(text.colour.a));
  pango_cairo_show_layout(cairo, layout.get());
  cairo_new_path(cairo);  // otherwise the next path would begin at the current point
  cairo_restore(cairo);
}

}  // namespace attnscope
