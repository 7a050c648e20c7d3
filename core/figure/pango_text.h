// Text rendering with Pango: Inter, then DejaVu Sans, then other installed fonts.
#pragma once

#include <pango/pangocairo.h>

#include <memory>
#include <string>

#include "core/figure/display_list.h"

namespace attnscope {

struct UnreferenceObject {
  void operator()(gpointer object) const { g_object_unref(object); }
};
using PangoLayoutPtr = std::unique_ptr<PangoLayout, UnreferenceObject>;

// Layout of one line, for use on the calling thread. `text`: valid UTF-8 without control
// characters. `size`: font size in units of the Cairo context. `is_rtl`: base direction. Disables
// hinting, so that a figure has the same layout at every scale.
PangoLayoutPtr make_layout(const std::string& text, double size, bool bold, bool is_rtl);

// Draws with the context's current transformation.
void draw_text(cairo_t* cairo, const Text& text);

}  // namespace attnscope
