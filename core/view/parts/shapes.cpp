#include "core/view/parts/shapes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {

FilledBox disc(Point centre, double radius, Colour colour) {
  return {{centre.x - radius, centre.y - radius, 2 * radius, 2 * radius}, colour, radius};
}

Point on_circle(Point centre, double radius, double angle) {
  return {centre.x + radius * std::cos(angle), centre.y - radius * std::sin(angle)};
}

Line arc(Point centre, double radius, double from, double to, Colour colour, double thickness) {
  constexpr double kStep = 0.12;  // radians
  const int steps = std::max(2, static_cast<int>(std::ceil(std::abs(to - from) / kStep)));
  Line line{{}, colour, thickness};
  for (int i = 0; i <= steps; ++i) {
    line.points.push_back(on_circle(centre, radius, from + (to - from) * i / steps));
  }
  return line;
}

Line circle(Point centre, double radius, Colour colour, double thickness) {
  return arc(centre, radius, 0, 2 * std::numbers::pi, colour, thickness);
}

std::vector<Line> arrow(Point from, Point to, Colour colour, double thickness) {
  constexpr double kHead = 4.5, kLargestHead = 0.45, kSpread = 0.45;  // thickness, length, radians
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  std::vector<Line> items;
  items.push_back({{from, to}, colour, thickness});
  if (!(length > 0)) return items;
  const double head = std::min(kHead * thickness, kLargestHead * length);
  const double angle = std::atan2(from.y - to.y, to.x - from.x);  // counter-clockwise
  const double back = angle + std::numbers::pi;
  items.push_back({{on_circle(to, head, back - kSpread), to, on_circle(to, head, back + kSpread)},
                   colour,
                   thickness});
  return items;
}

Line s_curve(Point from, Point to, Colour colour, double thickness) {
  // A cubic Bezier curve whose control points lie level with its ends.
  constexpr int kSteps = 32;
  const double middle = (from.x + to.x) / 2;
  Line line{{}, colour, thickness};
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps, s = 1 - t;
    const double ends_x = s * s * s * from.x + t * t * t * to.x;
    const double ends_y = (s * s * s + 3 * s * s * t) * from.y + (t * t * t + 3 * s * t * t) * to.y;
    line.points.push_back({ends_x + 3 * s * t * middle, ends_y});
  }
  return line;
}

}  // namespace attnscope
