#include "core/view/pattern/rule_cells.h"

#include "core/figure/colour_map.h"
#include "core/view/parts/not_allowed.h"

namespace attnscope {

Colour rule_colour(std::size_t rule) {
  const ColourMap& map = colour_map(kCategories);
  return map.colours[rule % map.colours.size()];
}

HeatMap rule_cells(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                   Index head) {
  constexpr double kLastCategory = 255;  // rule n has colour n, see ColourMap::Kind
  HeatMap cells = matrix_cells(matrix);
  cells.colour_map = kCategories;
  cells.most = kLastCategory;
  cells.missing = excluded_colour(input.canvas.theme);
  set_rules(cells, input, tap, head);
  return cells;
}

}  // namespace attnscope
