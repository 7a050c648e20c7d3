// The path in the plane, and the vector of an action.

#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"
#include "core/view/trajectory/walk_panels.h"

namespace attnscope {
namespace {

// Radius of the goal in pixels.
double goal_radius(const WalkGrid& grid) {
  return grid.point({SteeringPlane::kGoalRadius, 0}).x - grid.point({0, 0}).x;
}

void draw_starts(Page& page, const WalkGrid& grid, const std::vector<bool>& solved) {
  const Theme& theme = page.theme();
  for (Index start = 0; start < Grid::kCells; ++start) {
    if (start == Grid::kGoal) continue;
    const Point centre = grid.point(SteeringPlane::centre(start));
    const double radius = std::max(2.0, 0.07 * grid.cell());
    if (solved[static_cast<std::size_t>(start)]) {
      page.add(disc(centre, radius, blend(theme.background, first_colour(), 0.6)));
    } else {
      page.add(circle(centre, radius, theme.faint_text, 1));
    }
  }
}

// "right 0.60, down 0.59"
std::string directions(PlaneVector v) {
  const auto x = static_cast<double>(v.x), y = static_cast<double>(v.y);
  return (x < 0 ? "left " : "right ") + fixed(std::abs(x), 2) + (y < 0 ? ", down " : ", up ") +
         fixed(std::abs(y), 2);
}

}  // namespace

void draw_plane_walk(Page& page, const WalkGrid& grid, const Rollout& walk, Index steps,
                     const std::vector<bool>& solved) {
  const Theme& theme = page.theme();
  const double em = page.em(), font_size = page.legible(std::min(em, 0.26 * grid.cell()));
  const Point top_left = grid.point({-1, 1}), bottom_right = grid.point({1, -1});
  page.add(OutlinedBox{
      {top_left.x, top_left.y, bottom_right.x - top_left.x, bottom_right.y - top_left.y},
      theme.line,
      1});
  const Point goal = grid.point({0, 0});
  const double radius = goal_radius(grid);
  page.add(disc(goal, radius, blend(theme.background, second_colour(), 0.75)));
  page.add(Text{
      {goal.x, goal.y + radius + 0.7 * font_size}, "goal", theme.text, font_size, Align::Middle});
  draw_starts(page, grid, solved);
  const Point start = grid.point(walk.points.front());
  page.add(circle(start, std::max(4.0, 0.14 * grid.cell()), theme.text, 2));
  // Above starts in the upper half, below the others: away from the path to the goal.
  const double label_side = walk.points.front().y > 0 ? -1 : 1;
  page.add(Text{{start.x, start.y + label_side * (0.14 * grid.cell() + 0.8 * font_size)},
                "start",
                theme.text,
                font_size,
                Align::Middle});
  const double thickness = std::clamp(0.05 * grid.cell(), 1.5, 4.0);
  for (Index t = 0; t < steps; ++t) {
    const auto n = static_cast<std::size_t>(t);
    const bool is_last = t + 1 == steps;
    const Colour colour = is_last ? theme.accent : blend(theme.background, theme.text, 0.7);
    for (Line& line : arrow(grid.point(walk.points[n]), grid.point(walk.points[n + 1]), colour,
                            is_last ? 1.3 * thickness : thickness)) {
      page.add(std::move(line));
    }
  }
  page.add(disc(grid.point(walk.points[static_cast<std::size_t>(steps)]),
                std::max(3.0, 0.07 * grid.cell()), theme.accent));
}

void draw_move(Page& page, const Box& box, const WalkPicture& picture) {
  const Theme& theme = page.theme();
  const double em = page.em(), radius = 0.46 * box.height;
  const PlaneVector move = picture.part.walk.moves[static_cast<std::size_t>(picture.focus.row)];
  const Point centre{box.x + radius + 0.2 * em, box.y + box.height / 2};
  page.add(circle(centre, radius, theme.line, 1.5));
  page.add(disc(centre, 2, theme.faint_text));
  const Point tip{centre.x + radius * static_cast<double>(move.x),
                  centre.y - radius * static_cast<double>(move.y)};
  for (Line& line : arrow(centre, tip, theme.accent, 2.5)) page.add(std::move(line));
  const double x = centre.x + radius + em, width = box.right() - x;
  const double pace = std::min(1.0, static_cast<double>(length(move)));
  const std::string moved = fixed(pace * static_cast<double>(SteeringPlane::kPace), 2);
  const std::vector<std::string> lines[] = {
      {"Action: " + directions(move), directions(move), "Action " + describe_vector(move),
       describe_vector(move)},
      {"Pace " + fixed(pace, 2) + " of at most 1 (circle)", "Pace " + fixed(pace, 2)},
      {"The point moves by " + moved + ".", "Moves by " + moved}};
  double y = centre.y - 1.5 * em;
  for (const std::vector<std::string>& line : lines) {
    page.text({x, y}, page.fitting(line, em, width), em);
    y += 1.5 * em;
  }
}

}  // namespace attnscope
