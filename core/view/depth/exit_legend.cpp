#include "core/view/depth/exit_legend.h"

#include <algorithm>

#include "core/view/parts/token_flow.h"

namespace attnscope {

void draw_exit_legend(Page& page, Point at, double width, const std::vector<Index>& exits,
                      Index layers) {
  const std::string title = "exit layer (tokens)";
  // Swatches of ranges of `step` layers. Includes ranges without tokens if `with_empty`.
  const auto swatches = [&](Index step, bool with_empty) {
    std::vector<Swatch> list;
    for (Index first = 0; first < layers; first += step) {
      const Index last = std::min(first + step, layers) - 1;
      const auto count =
          std::ranges::count_if(exits, [&](Index exit) { return exit >= first && exit <= last; });
      if (count == 0 && !with_empty) continue;
      const std::string name =
          std::to_string(first) + (last > first ? "–" + std::to_string(last) : "");
      list.push_back(
          {depth_colour((first + last) / 2, layers), name + " (" + std::to_string(count) + ")"});
    }
    return list;
  };
  std::vector<Swatch> list = swatches(1, true);
  for (Index step = 1; step <= layers && swatches_width(page, title, list) > width; ++step) {
    list = swatches(step, false);
  }
  draw_swatches(page, at, width, title, list);
}

}  // namespace attnscope
