#include "core/view/image/pixel_panel.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

namespace {

constexpr double kTitle = 1.7, kGap = 1.6;  // em
constexpr double kLeastCell = 2;            // pixels

}  // namespace

Box PixelPanel::pixel(Index at) const {
  const double side = cell();
  return {box.x + static_cast<double>(at % width) * side,
          box.y + static_cast<double>(at / width) * side, side, side};
}

Index PixelPanel::at(Point p) const {
  if (!box.contains(p)) return -1;
  const auto column = static_cast<Index>((p.x - box.x) / cell());
  const auto row = static_cast<Index>((p.y - box.y) / cell());
  return std::min(row, height - 1) * width + std::min(column, width - 1);
}

std::vector<PixelPanel> place_panels(const Page& page, const Box& inside, const PixelGrid& grid,
                                     std::size_t count, double foot) {
  const double em = page.em(), title = kTitle * em, gap = kGap * em;
  const auto n = static_cast<double>(count);
  const auto columns = static_cast<double>(grid.width), rows = static_cast<double>(grid.height);
  const auto cell = [&](double across, double down) {  // panels in a line, and in a stack
    const double width = (inside.width - (across - 1) * gap) / across;
    const double height = (inside.height - (down - 1) * gap) / down - title - foot;
    return std::floor(std::min(width / columns, height / rows));
  };
  const bool beside = cell(n, 1) >= cell(1, n);
  const double side = beside ? cell(n, 1) : cell(1, n);
  if (!(side >= kLeastCell)) return {};
  const double width = side * columns, height = side * rows;
  const double step_x = beside ? width + gap : 0, step_y = beside ? 0 : title + height + foot + gap;
  const double all_wide = beside ? n * width + (n - 1) * gap : width;
  const double all_high = title + height + foot + (n - 1) * step_y;
  double x = std::round(inside.x + (inside.width - all_wide) / 2);
  double y = std::round(inside.y + page.spare_above(inside.height, all_high) + title);
  std::vector<PixelPanel> panels;
  for (std::size_t i = 0; i < count; ++i) {
    panels.push_back({{x, y, width, height}, grid.width, grid.height});
    x += step_x;
    y += step_y;
  }
  return panels;
}

void draw_panel(Page& page, const PixelPanel& panel, const std::vector<std::string>& titles,
                const std::function<Colour(Index pixel)>& colour) {
  const double em = page.em();
  page.text({panel.box.x, panel.box.y - 0.75 * em}, page.fitting(titles, em, panel.box.width), em);
  for (Index pixel = 0; pixel < panel.width * panel.height; ++pixel) {
    Box box = panel.pixel(pixel);
    // A little over its neighbours, which come later: no seams where pixels of the screen are cut.
    box.width = std::min(box.width + 0.5, panel.box.right() - box.x);
    box.height = std::min(box.height + 0.5, panel.box.bottom() - box.y);
    page.add(FilledBox{box, colour(pixel)});
  }
  page.add(OutlinedBox{panel.box, page.theme().line, 1});
}

void draw_mark(Page& page, const PixelPanel& panel, Index pixel, Colour colour) {
  const Box box = panel.pixel(pixel);
  const double thickness = std::clamp(panel.cell() / 5, 1.5, 3.0), out = thickness / 2;
  const Box around{box.x - out, box.y - out, box.width + 2 * out, box.height + 2 * out};
  const Box halo{around.x - thickness, around.y - thickness, around.width + 2 * thickness,
                 around.height + 2 * thickness};
  page.add(OutlinedBox{halo, page.theme().background, thickness});  // seen on any ground
  page.add(OutlinedBox{around, colour, thickness});
}

Colour pixel_colour(const Tensor& colours, Index pixel) {
  const auto byte = [&](Index channel) {
    const double share = std::clamp(static_cast<double>(colours[3 * pixel + channel]), 0.0, 1.0);
    return static_cast<std::uint8_t>(std::lround(255 * share));
  };
  return {byte(0), byte(1), byte(2), 255};
}

}  // namespace attnscope
