// Display lists onto a Cairo surface.
#pragma once

#include <cairo.h>

#include "core/figure/display_list.h"

namespace attnscope {

// `scale`: device pixels per unit; 0: a vector surface, whose unit is the list's.
void paint(cairo_t* cairo, const DisplayList& list, double scale);

}  // namespace attnscope
