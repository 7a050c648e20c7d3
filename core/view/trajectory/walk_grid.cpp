#include "core/view/trajectory/walk_grid.h"

#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

// Point of a visit to a cell. Repeated visits are offset so that overlapping paths remain visible.
Point visit_point(const WalkGrid& grid, Index cell, Index step) {
  const Box box = grid.cell_box(cell);
  const double offset = 0.07 * grid.cell() * static_cast<double>(step % 3 - 1);
  return {box.x + box.width / 2 + offset, box.y + box.height / 2 + offset};
}

// Draws a step between cells; a step out of the grid is a short arrow towards the border.
void draw_step(Page& page, const WalkGrid& grid, const Rollout& walk, Index step, Colour colour,
               double thickness) {
  const auto t = static_cast<std::size_t>(step);
  const Point from = visit_point(grid, walk.cells[t], step);
  Point to = visit_point(grid, walk.cells[t + 1], step);
  if (walk.cells[t] == walk.cells[t + 1]) {
    constexpr double kAcross[] = {0, 1, 0, -1}, kDown[] = {-1, 0, 1, 0};
    const auto a = static_cast<std::size_t>(walk.actions[t]);
    to = {from.x + 0.42 * kAcross[a] * grid.cell(), from.y + 0.42 * kDown[a] * grid.cell()};
  }
  for (Line& line : arrow(from, to, colour, thickness)) page.add(std::move(line));
}

}  // namespace

const Rollout& selected_walk(const Rollouts& rollouts, const ViewSettings& view) {
  const Values values = view_values(view, "trajectory");
  Index start = std::clamp<Index>(values.integer("start"), 0, Grid::kCells - 1);
  if (start == Grid::kGoal) start = 0;
  const Index fewest = rollouts.find(start, 1)->fewest_steps();
  const Index target_steps = values.has("asked") ? values.integer("asked") : fewest;
  return *rollouts.find(start, std::clamp<Index>(target_steps, 1, rollouts.max_steps));
}

Box WalkGrid::cell_box(Index index) const {
  const double side = cell();
  return {box.x + static_cast<double>(index % Grid::kSide) * side,
          box.y + static_cast<double>(index / Grid::kSide) * side, side, side};
}

Index WalkGrid::at(Point p) const {
  if (!box.contains(p)) return -1;
  const auto index = [&](double pixel, double first) {
    return std::min(static_cast<Index>((pixel - first) / cell()), Grid::kSide - 1);
  };
  return index(p.y, box.y) * Grid::kSide + index(p.x, box.x);
}

Point WalkGrid::point(PlaneVector v) const {
  const double unit = cell() * static_cast<double>(Grid::kSide / 2);
  return {box.x + box.width / 2 + static_cast<double>(v.x) * unit,
          box.y + box.height / 2 - static_cast<double>(v.y) * unit};
}

void draw_walk(Page& page, const WalkGrid& grid, const Rollout& walk, Index steps,
               const std::vector<bool>& solved) {
  const Theme& theme = page.theme();
  const double em = page.em(), font_size = page.legible(std::min(em, 0.26 * grid.cell()));
  for (Index cell = 0; cell < Grid::kCells; ++cell) {
    const Box box = grid.cell_box(cell);
    Colour fill = theme.background;
    if (solved[static_cast<std::size_t>(cell)]) fill = blend(fill, first_colour(), 0.22);
    if (cell == Grid::kGoal) fill = blend(theme.background, second_colour(), 0.75);
    page.add(FilledBox{box, fill});
    page.add(OutlinedBox{box, theme.line, 1});
  }
  // Labels are in the corners of cells, where the path does not cover them.
  const auto draw_label = [&](Index cell, const char* text, Colour fill) {
    const Box box = grid.cell_box(cell);
    page.add(Text{{box.x + 0.3 * font_size, box.y + 0.75 * font_size},
                  page.ellipsised(text, font_size, box.width - 0.3 * font_size),
                  ink_on(fill),
                  font_size,
                  Align::Start});
  };
  draw_label(Grid::kGoal, "goal", blend(theme.background, second_colour(), 0.75));
  draw_label(walk.start, "start", theme.background);
  page.add(OutlinedBox{grid.cell_box(walk.start), theme.text, 2});
  const double thickness = std::clamp(0.05 * grid.cell(), 1.5, 4.0);
  for (Index t = 0; t < steps; ++t) {
    const bool is_last = t + 1 == steps;
    draw_step(page, grid, walk, t,
              is_last ? theme.accent : blend(theme.background, theme.text, 0.7),
              is_last ? 1.3 * thickness : thickness);
  }
  page.add(disc(visit_point(grid, walk.cells[static_cast<std::size_t>(steps)], steps),
                std::max(3.0, 0.09 * grid.cell()), theme.accent));
}

std::string describe_cell(Index cell) {
  return "row " + std::to_string(cell / Grid::kSide) + ", column " +
         std::to_string(cell % Grid::kSide);
}

std::string describe_vector(PlaneVector v) {
  return "(" + fixed(static_cast<double>(v.x), 2) + ", " + fixed(static_cast<double>(v.y), 2) + ")";
}

std::string describe_start(World world, Index start) {
  return world == World::Grid ? describe_cell(start)
                              : describe_vector(SteeringPlane::centre(start));
}

std::string describe_place(const Rollout& walk, Index step) {
  const auto n = static_cast<std::size_t>(step);
  return walk.world == World::Grid ? describe_cell(walk.cells[n]) : describe_vector(walk.points[n]);
}

const char* action_name(Index action) {
  constexpr const char* kNames[] = {"up", "right", "down", "left"};
  return kNames[action];
}

const char* action_arrow(Index action) {
  constexpr const char* kArrows[] = {"↑", "→", "↓", "←"};
  return kArrows[action];
}

}  // namespace attnscope
