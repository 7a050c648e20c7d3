// Arcs, arrows and curves, made of display-list items.
#pragma once

#include "core/figure/display_list.h"

namespace attnscope {

FilledBox disc(Point centre, double radius, Colour colour);
Line circle(Point centre, double radius, Colour colour, double thickness);
// Arc between two angles, in radians counter-clockwise from the right.
Line arc(Point centre, double radius, double from, double to, Colour colour, double thickness);
Point on_circle(Point centre, double radius, double angle);
// A shaft with a head, as two lines.
std::vector<Line> arrow(Point from, Point to, Colour colour, double thickness);
// S-shaped curve that leaves and arrives horizontally.
Line s_curve(Point from, Point to, Colour colour, double thickness);

}  // namespace attnscope
