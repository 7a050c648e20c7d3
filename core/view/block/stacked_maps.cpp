#include "core/view/block/stacked_maps.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"

namespace attnscope {
namespace {

constexpr double kTitle = 1.7;                   // em
constexpr double kMaxRow = 1.9, kMaxColumn = 4;  // em
constexpr double kMinMap = 4;                    // em: width
constexpr double kMinRows = 3;                   // em: height
constexpr double kGap = 1;                       // em between maps
constexpr double kWide = 1.3;                    // width / height from which maps are side by side
constexpr double kLinear = 20;                   // largest ratio of a linear range
constexpr double kSmallestShare = 1e-4;          // of the largest number, on a logarithmic range

}  // namespace

std::optional<StackedMaps> place_stacked_maps(const Page& page, const Box& box,
                                              const TokenAxis& row_axis,
                                              const TokenAxis& column_axis, std::size_t count) {
  const double em = page.em(), bar = colour_bar_width(page);
  const TokenAxis rows = measured(page, row_axis), columns = measured(page, column_axis);
  const auto maps = static_cast<double>(count);
  const bool is_wide = box.width > kWide * box.height;
  const double across = is_wide ? maps : 1, down = is_wide ? 1 : maps;
  const auto row_count = static_cast<double>(rows.count());
  const auto column_count = static_cast<double>(columns.count());
  const double depth = std::min(9 * em, 0.25 * std::min(box.width, box.height));
  const auto plot_size = [&](const AxisDepths& depths) {
    const double width = (box.width - depths.left - bar - (across - 1) * kGap * em) / across;
    const double height =
        (box.height - depths.top - down * kTitle * em - (down - 1) * kGap * em) / down;
    return PlotSize{std::clamp(width, 0.0, column_count * kMaxColumn * em),
                    std::clamp(height, 0.0, row_count * kMaxRow * em)};
  };
  const AxisDepths depths = settled_depths(page, rows, columns, {depth, depth}, plot_size);
  const PlotSize size = plot_size(depths);
  if (size.width < std::min(kMinMap, column_count) * em ||
      size.height < std::min(kMinRows, row_count) * em) {
    return std::nullopt;
  }
  StackedMaps result;
  const double total = depths.left + across * size.width + (across - 1) * kGap * em + bar;
  double x = box.x + (box.width - total) / 2 + depths.left, y = box.y + kTitle * em + depths.top;
  for (std::size_t n = 0; n < count; ++n) {
    MatrixPlot m;
    m.scale = page.input().canvas.scale;
    m.rows = rows;
    m.columns = columns;
    m.left = depths.left;
    m.top = !is_wide && n > 0 ? 0 : depths.top;
    m.row_labels = !is_wide || n == 0;
    set_visible(m, {});
    m.plot = {x, y, size.width, size.height};
    m.right = {m.plot.right(), y, bar, size.height};
    if (page.input().interaction.pointer)
      std::tie(m.hovered_row, m.hovered_column) = pair_at(m)(*page.input().interaction.pointer);
    if (m.top == 0) {  // only the first map has column labels
      m.columns = {};
      m.hovered_column = -1;
    }
    result.bottom = m.plot.bottom();
    result.plots.push_back(std::move(m));
    if (is_wide) {
      x += size.width + kGap * em;
    } else {
      y += size.height + (kGap + kTitle) * em;
    }
  }
  return result;
}

void draw_stacked_maps(Page& page, const StackedMaps& maps, const std::vector<TitledMap>& values,
                       const ColourRange& range, const std::vector<std::string>& bar_titles,
                       Index marked_row, Index marked_column) {
  const double em = page.em();
  for (std::size_t n = 0; n < maps.plots.size(); ++n) {
    const MatrixPlot& m = maps.plots[n];
    const double left = m.row_labels ? m.left : 0;
    page.add(Text{{m.plot.x - left, m.plot.y - m.top - 0.8 * em},
                  page.fitting(values[n].titles, em, (m.plot.width + left) / 1.08),
                  page.theme().text,
                  em,
                  Align::Start,
                  0,
                  true});
    HeatMap cells = matrix_cells(m);
    const Scaled numbers = scaled(values[n].values, range);
    cells.values = numbers.numbers;
    cells.least = numbers.least;
    cells.most = numbers.most;
    cells.colour_map = range.colour_map;
    cells.missing = blend(page.theme().background, page.theme().line, 0.35);
    page.add(std::move(cells));
    draw_matrix_frame(page, m, {});
    page.add(Clip{m.plot});
    if (marked_row >= 0) {
      const Box cell = m.cell(marked_row, 0);
      page.add(OutlinedBox{{m.plot.x, cell.y, m.plot.width, cell.height}, page.theme().accent, 2});
    }
    if (marked_column >= 0) {
      const Box cell = m.cell(0, marked_column);
      page.add(OutlinedBox{{cell.x, m.plot.y, cell.width, m.plot.height}, page.theme().accent, 2});
    }
    page.add(Clip{});
  }
  const MatrixPlot& last = maps.plots.back();
  const MatrixPlot& first = maps.plots.front();
  draw_colour_bar(page,
                  {last.right.x, first.plot.y, last.right.width, last.plot.bottom() - first.plot.y},
                  range, bar_titles);
}

ColourRange magnitude_range(const Page& page, const std::vector<TitledMap>& maps) {
  ColourRange range;
  range.colour_map = page.input().session.view.colour_map;
  if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
  double least = 0, most = 0;
  for (const TitledMap& map : maps) {
    for (const float number : map.values) {
      if (!std::isfinite(number)) continue;
      const auto x = static_cast<double>(number);
      most = std::max(most, x);
      if (x > 0) least = least > 0 ? std::min(least, x) : x;
    }
  }
  range.most = most > 0 ? most : 1;
  if (least > 0 && most > kLinear * least) {
    range.scale = ColourRange::Scale::Log;
    range.smallest = std::max(least, kSmallestShare * most);
  }
  return range;
}

}  // namespace attnscope
