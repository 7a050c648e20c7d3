#include "core/view/image/pixel_panel.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

constexpr double kTitle = 1.7, kGap = 1.6;  // em
constexpr double kMinCell = 2;              // pixels
constexpr double kMinSmall = 8;             // em, width of panels next to a large one
constexpr double kMinSmallCell = 1.2;       // pixels: cells of panels next to a large one
constexpr double kMinGain = 1.25;           // minimum enlargement that justifies a large panel
constexpr double kMinWhole = 8;             // pixels: larger cells snap to whole pixels

}  // namespace

Box PixelPanel::pixel(Index index) const {
  const double side = cell();
  return {box.x + static_cast<double>(index % width) * side,
          box.y + static_cast<double>(index / width) * side, side, side};
}

Index PixelPanel::at(Point p) const {
  if (!box.contains(p)) return -1;
  const auto column = static_cast<Index>((p.x - box.x) / cell());
  const auto row = static_cast<Index>((p.y - box.y) / cell());
  return std::min(row, height - 1) * width + std::min(column, width - 1);
}

namespace {

double whole_pixels(double side) {
  return side >= kMinWhole ? std::floor(side) : side;
}

// Three panels: the second is large, the others are stacked next to it. Empty if there is no space.
std::vector<PixelPanel> place_beside_large(const Page& page, const Box& inside,
                                           const PixelGrid& grid, double foot) {
  const double em = page.em(), title = kTitle * em, gap = kGap * em;
  const auto columns = static_cast<double>(grid.width), rows = static_cast<double>(grid.height);
  const double small = whole_pixels(((inside.height - gap) / 2 - title - foot) / rows);
  if (!(small >= kMinSmallCell) || small * columns < kMinSmall * em) return {};
  const double large = whole_pixels(std::min((inside.height - title - foot) / rows,
                                             (inside.width - gap - small * columns) / columns));
  if (!(large > kMinGain * small)) return {};
  const double total_width = (large + small) * columns + gap;
  const double total_height = title + large * rows + foot;
  const double left = std::round(inside.x + (inside.width - total_width) / 2);
  const double used = std::max(total_height, 2 * (title + small * rows + foot) + gap);
  const double top = std::round(inside.y + page.top_margin(inside.height, used));
  const auto panel = [&](double x, double y, double side) {
    return PixelPanel{{x, y + title, side * columns, side * rows}, grid.width, grid.height};
  };
  const double right = left + large * columns + gap;
  return {panel(right, top, small), panel(left, top, large),
          panel(right, top + title + small * rows + foot + gap, small)};
}

std::vector<PixelPanel> place_in_lines(const Page& page, const Box& inside, const PixelGrid& grid,
                                       std::size_t count, double foot) {
  const double em = page.em(), title = kTitle * em, gap = kGap * em;
  const auto columns = static_cast<double>(grid.width), rows = static_cast<double>(grid.height);
  const auto lines_of = [&](std::size_t per_line) { return (count + per_line - 1) / per_line; };
  const auto cell = [&](std::size_t per_line) {
    const auto n = static_cast<double>(per_line), m = static_cast<double>(lines_of(per_line));
    const double width = (inside.width - (n - 1) * gap) / n;
    const double height = (inside.height - (m - 1) * gap) / m - title - foot;
    return whole_pixels(std::min(width / columns, height / rows));
  };
  std::size_t per_line = count;
  for (std::size_t candidate = count - 1; candidate > 0; --candidate) {
    if (cell(candidate) > cell(per_line)) per_line = candidate;
  }
  const double side = cell(per_line);
  if (!(side >= kMinCell)) return {};
  const double width = side * columns, height = side * rows;
  const double step_x = width + gap, step_y = title + height + foot + gap;
  const double total_width = static_cast<double>(per_line) * step_x - gap;
  const double total_height = static_cast<double>(lines_of(per_line)) * step_y - gap;
  const double left = std::round(inside.x + (inside.width - total_width) / 2);
  const double top = std::round(inside.y + page.top_margin(inside.height, total_height) + title);
  std::vector<PixelPanel> panels;
  for (std::size_t i = 0; i < count; ++i) {
    panels.push_back({{left + static_cast<double>(i % per_line) * step_x,
                       top + static_cast<double>(i / per_line) * step_y, width, height},
                      grid.width,
                      grid.height});
  }
  return panels;
}

}  // namespace

std::vector<PixelPanel> place_panels(const Page& page, const Box& inside, const PixelGrid& grid,
                                     std::size_t count, double foot) {
  std::vector<PixelPanel> equal = place_in_lines(page, inside, grid, count, foot);
  if (count != 3 || equal.empty()) return equal;
  std::vector<PixelPanel> large = place_beside_large(page, inside, grid, foot);
  const bool is_larger = !large.empty() && large[1].cell() > kMinGain * equal[1].cell();
  return is_larger ? large : equal;
}

PanelsAndChart place_with_chart(const Page& page, const Box& inside, const PixelGrid& grid,
                                double foot) {
  PanelsAndChart equal{place_in_lines(page, inside, grid, 4, foot), {}};
  if (equal.panels.empty()) return equal;
  equal.chart = equal.panels.back().box;
  equal.panels.pop_back();
  const double em = page.em(), title = kTitle * em, gap = kGap * em;
  const auto columns = static_cast<double>(grid.width), rows = static_cast<double>(grid.height);
  const double max_small = std::min(((inside.height - gap) / 2 - title - foot) / rows,
                                    (inside.width - 2 * gap) / (4 * columns));
  const double small = whole_pixels(max_small);
  if (!(small >= kMinSmallCell) || small * columns < kMinSmall * em) return equal;
  const double aside = 2 * small * columns + gap;
  const double large = whole_pixels(
      std::min((inside.height - title - foot) / rows, (inside.width - gap - aside) / columns));
  if (large < kMinGain * equal.panels[0].cell()) return equal;
  const double height = std::max(title + large * rows, 2 * (title + small * rows) + foot + gap);
  const double left = std::round(inside.x + (inside.width - large * columns - gap - aside) / 2);
  const double top = std::round(inside.y + page.top_margin(inside.height, height + foot));
  const auto panel = [&](double x, double side) {
    return PixelPanel{{x, top + title, side * columns, side * rows}, grid.width, grid.height};
  };
  const double right = left + large * columns + gap;
  PanelsAndChart placed;
  placed.panels = {panel(right, small), panel(left, large),
                   panel(right + small * columns + gap, small)};
  const double chart_top = top + 2 * title + small * rows + foot + gap;
  placed.chart = {right, chart_top, aside,
                  std::max(small * rows, top + title + large * rows - chart_top)};
  return placed;
}

void draw_panel(Page& page, const PixelPanel& panel, const std::vector<std::string>& titles,
                const std::function<Colour(Index pixel)>& colour, const Tensor& picture) {
  const double em = page.em();
  page.text({panel.box.x, panel.box.y - 0.75 * em}, page.fitting(titles, em, panel.box.width), em);
  if (picture.defined()) page.add(ColourImage{panel.box, picture});
  Tensor colours({panel.height, panel.width, 4});
  float* to = colours.data();
  for (Index pixel = 0; pixel < panel.width * panel.height; ++pixel) {
    const Colour c = colour(pixel);
    for (const std::uint8_t part : {c.r, c.g, c.b, c.a}) *to++ = static_cast<float>(part) / 255;
  }
  page.add(ColourImage{panel.box, colours});
  page.add(OutlinedBox{panel.box, page.theme().line, 1});
}

void draw_mark(Page& page, const PixelPanel& panel, Index pixel, Colour colour) {
  const Box box = panel.pixel(pixel);
  const double thickness = std::clamp(panel.cell() / 5, 1.5, 3.0), out = thickness / 2;
  const Box frame{box.x - out, box.y - out, box.width + 2 * out, box.height + 2 * out};
  const Box halo{frame.x - thickness, frame.y - thickness, frame.width + 2 * thickness,
                 frame.height + 2 * thickness};
  page.add(OutlinedBox{halo, page.theme().background, thickness});  // visible on any background
  page.add(OutlinedBox{frame, colour, thickness});
}

Colour pixel_colour(const Tensor& colours, Index pixel) {
  const auto byte = [&](Index channel) {
    const double value = std::clamp(static_cast<double>(colours[3 * pixel + channel]), 0.0, 1.0);
    return static_cast<std::uint8_t>(std::lround(255 * value));
  };
  return {byte(0), byte(1), byte(2), 255};
}

}  // namespace attnscope
