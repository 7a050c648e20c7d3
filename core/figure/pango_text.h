// Text rendering with Pango: DejaVu Sans, with the installed fonts as fallback.
#pragma once

#include <cairo.h>

#include "core/figure/display_list.h"

namespace attnscope {

// Draws with the context's current transformation. Disables hinting, so that a figure has the same
// layout at every scale.
void draw_text(cairo_t* cairo, const Text& text);

}  // namespace attnscope
