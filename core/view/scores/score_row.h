// One query's row of scores as bars over the keys, a chart for each stage: terms, score, weight,
// weighted values.
#pragma once

#include <string>
#include <vector>

#include "core/view/map/map_raster.h"
#include "core/view/parts/legend.h"
#include "core/view/scores/score_stages.h"

namespace attnscope {

// How a row goes into a space. Where it is low, terms and weighted values give way to score and
// weight.
struct RowPlan {
  int stages = 0;
  double header = 0, depth = 0;  // of title and legend, of the keys' labels
  bool beside = false;           // the legend stands beside the title
  double least = 0;              // the height that all this takes at least
  TokenAxis keys{};
};
inline constexpr int kFewestStages = 2;
int stage_count(const std::vector<ScoreMap>& maps);  // all there are
RowPlan plan_row(const Page& page, const std::vector<ScoreMap>& maps, TokenAxis keys,
                 const Box& space, int stages);

struct RowPlot {
  Box bars;  // of all stages
  CellSpan columns;
  std::vector<Box> stages;
  double left = 0, right = 0;  // beside the bars
  // The key under a point; -1: none. May be kept after the page is gone.
  Index key_at(Point p) const;
};
// `box` is at least as high as the plan has it.
RowPlot place_row(const Page& page, const Box& box, const RowPlan& plan, const CellSpan& columns,
                  const RowStages& row);
// With the numbers of the key `marked` (-1: none).
void draw_row(Page& page, const Box& box, const RowPlan& plan, const RowPlot& plot,
              const std::vector<ScoreMap>& maps, const RowStages& row, const std::string& query,
              Index marked);

}  // namespace attnscope
