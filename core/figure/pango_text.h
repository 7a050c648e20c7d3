// Text by Pango: DejaVu Sans, and for what it lacks whatever font is installed.
#pragma once

#include <cairo.h>

#include "core/figure/display_list.h"

namespace attnscope {

// With the context's current transformation; not hinted, so that a picture has the same layout at
// every scale.
void draw_text(cairo_t* cairo, const Text& text);

}  // namespace attnscope
