#include "core/view/pattern/rule_cells.h"

#include "core/figure/colour_map.h"
#include "core/view/pattern/pattern_cells.h"

namespace attnscope {

Colour rule_colour(std::size_t rule) {
  const ColourMap& map = colour_map(kCategories);
  return map.colours[rule % map.colours.size()];
}

Colour not_allowed_colour(const Theme& theme) {
  return blend(theme.background, theme.line, 0.3);
}

HeatMap rule_cells(const ViewInput& input, const MatrixPlot& m, const AttentionTap& tap,
                   Index head) {
  constexpr double kLastCategory = 255;  // rule n gets colour n, see ColourMap::Kind
  HeatMap cells = matrix_cells(m);
  cells.colour_map = kCategories;
  cells.most = kLastCategory;
  cells.missing = not_allowed_colour(input.theme);
  const std::shared_ptr<const Pattern>& pattern = tap.result.pattern;
  if (tap.result.mask.defined()) {
    cells.values = masked_rules(*pattern, tap.result.mask, head);
    return cells;
  }
  const PatternWindow w =
      pattern_window(tap.queries(), tap.keys(), m.row, m.column, m.height, m.width);
  const auto make = [&] { return pattern_rules(*pattern, head, w); };
  std::string name = "rules";
  for (const Index n : {pattern->heads() > 1 ? head : 0, w.row, w.column, w.height, w.width}) {
    name += " " + std::to_string(n);
  }
  cells.values = input.cache != nullptr ? input.cache->matrix(pattern, name, make) : make();
  const auto in_blocks = [](double& at, Index first, Index step) {
    at = (at - static_cast<double>(first)) / static_cast<double>(step);
  };
  in_blocks(cells.row, w.row, w.row_step);
  in_blocks(cells.column, w.column, w.column_step);
  cells.height /= static_cast<double>(w.row_step);
  cells.width /= static_cast<double>(w.column_step);
  return cells;
}

}  // namespace attnscope
