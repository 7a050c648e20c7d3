#include "core/view/mechanism/panel.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/view/parts/range.h"

namespace attnscope {

void draw_panel(Page& page, const Box& box, const Tensor& numbers, const ColourRange& range) {
  const bool is_vector = numbers.rank() == 1;
  const Scaled cells = scaled(is_vector ? numbers.reshaped({1, numbers.size()}) : numbers,
                              range);  // [rows, columns]
  HeatMap map;
  map.box = box;
  map.values = cells.numbers;
  map.height = static_cast<double>(cells.numbers.dim(0));
  map.width = static_cast<double>(cells.numbers.dim(1));
  map.least = cells.least;
  map.most = cells.most;
  map.colour_map = range.colour_map;
  page.add(std::move(map));
  page.add(OutlinedBox{box, page.theme().line, 1});
}

ColourRange range_of_numbers(const Page& page, const Tensor& numbers) {
  double max_size = 0;
  bool has_negatives = false;
  for (const float x : numbers) {
    if (!std::isfinite(x)) continue;
    max_size = std::max(max_size, std::abs(static_cast<double>(x)));
    has_negatives = has_negatives || x < 0;
  }
  if (!(max_size > 0)) max_size = 1;
  if (has_negatives) return {-max_size, max_size, diverging_colours(page.theme())};
  return {0, max_size, weight_colours(page.input(), false).colour_map};
}

}  // namespace attnscope
