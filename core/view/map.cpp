// One layer and head: how much each query attends to each key.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/colour_bar.h"
#include "core/view/describe.h"
#include "core/view/matrix_plot.h"
#include "core/view/range.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

// Visible whole rows (or columns) of the matrix: [first, last).
struct Cells {
  Index first, last;
};
Cells visible_cells(double first, double extent, Index count) {
  const auto clamped = [count](double v) {
    return static_cast<Index>(std::clamp(v, 0.0, static_cast<double>(count)));
  };
  return {clamped(std::floor(first)), clamped(std::ceil(first + extent))};
}

// Numbers in the cells, where these are large enough; cells that the pattern leaves out stay empty.
void draw_numbers(Page& page, const MatrixPlot& m, const AttentionTap& tap, Index head,
                  const ShownCells& shown, const ColourRange& range) {
  constexpr double kLeastWidth = 3.0, kLeastHeight = 1.35;  // em of the smallest numbers
  constexpr double kShownAsZero = 0.005;
  const double cell_width = m.plot.width / m.width, cell_height = m.plot.height / m.height;
  const double size = std::min({cell_width / kLeastWidth, cell_height / kLeastHeight, page.em()});
  if (size < 0.7 * page.em() || shown.step != 1) return;
  const Tensor values = shown.values.defined() ? shown.values : tap.attention(head);
  const ColourMap& colours = colour_map(range.colour_map);
  const Cells rows = visible_cells(m.row, m.height, tap.queries());
  const Cells columns = visible_cells(m.column, m.width, tap.keys());
  const Index pattern_head = tap.result.pattern->heads() > 1 ? head : 0;
  page.add(Clip{m.plot});
  for (Index i = rows.first; i < rows.last; ++i) {
    for (Index c = columns.first; c < columns.last; ++c) {
      if (!tap.result.pattern->allowed(pattern_head, i, c)) continue;
      const double value = values(i - shown.row, c - shown.column);
      if (std::isnan(value)) continue;  // still being computed
      const Colour cell = colours.at((value - range.least) / (range.most - range.least));
      page.add(Text{{m.plot.x + (static_cast<double>(c) + 0.5 - m.column) * cell_width,
                     m.plot.y + (static_cast<double>(i) + 0.5 - m.row) * cell_height},
                    fixed(value, 2),
                    translucent(ink_on(cell), std::abs(value) < kShownAsZero ? 0.5 : 1),
                    size,
                    Align::Middle});
    }
  }
  page.add(Clip{});
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const Found found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  const ViewSettings& settings = input.experiment.view;
  const Box inside = page.frame(
      picture_title(input.trace),
      caption(input.trace, "Attention of layer " + std::to_string(settings.layer) + ", head " +
                               std::to_string(settings.head) + ": " + describe(tap) + "."));
  const MatrixPlot m = place_matrix(page, inside, tap, colour_bar_width(page));
  if (!(m.plot.width > 0)) return no_space(page);

  HeatMap cells = matrix_cells(m);
  const ShownCells shown = set_cells(cells, input, tap, found.head);
  const ColourRange range = colour_range(input, cells, is_signed(tap, found.head));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  draw_numbers(page, m, tap, found.head, shown, range);
  draw_matrix_frame(page, m,
                    {"more cells than pixels: each pixel shows its largest", "max-pooled"});
  draw_colour_bar(page, m.right, range, {"attention weight", "weight"});
  ViewLayout layout = matrix_layout(page, m, m.bottom(page));
  layout.pending = pending_text(shown.exact);
  return layout;
}

}  // namespace

View map_view() {
  return {"map", "Map", "One layer and head: how much each query attends to each key.", true,
          lay_out};
}

}  // namespace attnscope
