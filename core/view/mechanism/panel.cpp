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
  double most = 0;
  bool any_negative = false;
  for (const float x : numbers) {
    if (!std::isfinite(x)) continue;
    most = std::max(most, std::abs(static_cast<double>(x)));
    any_negative = any_negative || x < 0;
  }
  if (!(most > 0)) most = 1;
  if (any_negative) return {-most, most, diverging_colours(page.theme())};
  return {0, most, weight_colours(page.input(), false).colour_map};
}

}  // namespace attnscope
