// One query's row as bars over the keys, a chart per stage: terms, score, weight, weighted values.
#pragma once

#include <string>
#include <vector>

#include "core/view/map/map_raster.h"
#include "core/view/parts/legend.h"
#include "core/view/scores/score_stages.h"

namespace attnscope {

// Space requirements of a row. If space is short, terms and weighted values are omitted before
// score and weight.
struct RowPlan {
  int stages = 0;
  double header = 0, depth = 0;  // height of title and legend, and of the key labels
  bool beside = false;           // the legend is next to the title
  double least = 0;              // minimum total height
  TokenAxis keys{};
};
inline constexpr int kFewestStages = 2;              // score and weight
int stage_count(const std::vector<ScoreMap>& maps);  // of all stages
RowPlan plan_row(const Page& page, const std::vector<ScoreMap>& maps, TokenAxis keys,
                 const Box& space, int stages);

struct RowPlot {
  Box bars;  // of all stages
  CellSpan columns;
  std::vector<Box> stages;
  double left = 0, right = 0;  // margins of the bars
  // Key at a point; -1: none. May outlive the page.
  Index key_at(Point p) const;
};
// `box` is at least as high as the plan requires.
RowPlot place_row(const Page& page, const Box& box, const RowPlan& plan, const CellSpan& columns,
                  const RowStages& row);
// Draws the row, with the numbers of the key `marked` (-1: none).
void draw_row(Page& page, const Box& box, const RowPlan& plan, const RowPlot& plot,
              const std::vector<ScoreMap>& maps, const RowStages& row, const std::string& query,
              Index marked);

}  // namespace attnscope
