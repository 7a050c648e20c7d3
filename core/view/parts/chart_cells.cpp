#include "core/view/parts/chart_cells.h"

#include <utility>

namespace attnscope {

void draw_chart_cells(Page& page, const Chart& chart, const Tensor& values,
                      const ColourRange& range) {
  HeatMap cells;
  cells.box = chart.plot;
  cells.values = values;
  cells.height = static_cast<double>(values.dim(0));
  cells.width = static_cast<double>(values.dim(1));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  draw_chart(page, chart);
  page.add(std::move(cells));
  page.add(OutlinedBox{chart.plot, page.theme().line, 1});
}

}  // namespace attnscope
