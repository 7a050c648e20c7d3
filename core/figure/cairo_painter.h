// Cairo back end of display lists.
#pragma once

#include <cairo.h>

#include "core/figure/display_list.h"

namespace attnscope {

// `scale`: device pixels per unit; 0: a vector surface with the list's units.
void paint(cairo_t* cairo, const DisplayList& list, double scale);

}  // namespace attnscope
