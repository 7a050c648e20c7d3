// Cairo back end of display lists.
#pragma once

#include <cairo.h>

#include "core/figure/display_list.h"

namespace attnscope {

// `scale`: device pixels per unit; 0 for a vector surface, which has the units of the list.
void paint(cairo_t* cairo, const DisplayList& list, double scale);

}  // namespace attnscope
