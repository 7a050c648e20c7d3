#include "core/view/graph/node_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

std::vector<Point> circle_places(Index nodes) {
  std::vector<Point> places;
  for (Index n = 0; n < nodes; ++n) {
    const double angle =  // clockwise from the top
        2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(nodes);
    places.push_back({0.5 + 0.5 * std::sin(angle), 0.5 - 0.5 * std::cos(angle)});
  }
  return places;
}

// Scales positions to the unit square, separately in x and y.
void fill_square(std::vector<Point>& places) {
  const auto stretch = [&](double Point::*axis) {
    double minimum = places.front().*axis, maximum = minimum;
    for (const Point& p : places) {
      minimum = std::min(minimum, p.*axis);
      maximum = std::max(maximum, p.*axis);
    }
    for (Point& p : places) {
      p.*axis = maximum - minimum > 1e-9 ? (p.*axis - minimum) / (maximum - minimum) : 0.5;
    }
  };
  stretch(&Point::x);
  stretch(&Point::y);
}

std::vector<Point> spring_places(Index nodes, const std::vector<Edge>& edges) {
  constexpr int kRounds = 200;
  constexpr double kMaxHeat = 0.1, kMinDistance = 1e-6;
  std::vector<Point> places = circle_places(nodes);
  const auto count = static_cast<std::size_t>(nodes);
  const double spring_length = std::sqrt(1 / static_cast<double>(nodes));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Point> moves(count);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = a + 1; b < count; ++b) {
        const double x = places[a].x - places[b].x, y = places[a].y - places[b].y;
        const double distance = std::max(kMinDistance, std::hypot(x, y));
        const double size = spring_length * spring_length / (distance * distance);
        moves[a].x += x * size;
        moves[a].y += y * size;
        moves[b].x -= x * size;
        moves[b].y -= y * size;
      }
    }
    for (const auto& [from, to] : edges) {
      const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
      const double x = places[a].x - places[b].x, y = places[a].y - places[b].y;
      const double size = std::hypot(x, y) / spring_length;
      moves[a].x -= x * size;
      moves[a].y -= y * size;
      moves[b].x += x * size;
      moves[b].y += y * size;
    }
    const double heat = kMaxHeat * (1 - static_cast<double>(round) / kRounds);
    for (std::size_t n = 0; n < count; ++n) {
      const double length = std::max(kMinDistance, std::hypot(moves[n].x, moves[n].y));
      const double step = std::min(length, heat) / length;
      places[n].x += moves[n].x * step;
      places[n].y += moves[n].y * step;
    }
  }
  fill_square(places);
  return places;
}

}  // namespace

std::vector<Point> node_places(const std::string& layout, Index nodes,
                               const std::vector<Edge>& edges) {
  if (nodes == 1) return {{0.5, 0.5}};
  if (layout == "circle") return circle_places(nodes);
  if (layout == "springs") return spring_places(nodes, edges);
  std::vector<Point> places;
  for (Index n = 0; n < nodes; ++n) {
    places.push_back({(static_cast<double>(n) + 0.5) / static_cast<double>(nodes), 0.5});
  }
  return places;
}

}  // namespace attnscope
