// One query's row as bars over the keys, a chart per stage: terms, score, weight, weighted values.
#pragma once

#include <string>
#include <vector>

#include "core/view/map/map_raster.h"
#include "core/view/parts/legend.h"
#include "core/view/scores/score_stages.h"

namespace attnscope {

// Space requirements of a row.
struct RowPlan {
  int stages = 0;                 // number of charts
  double header = 0, depth = 0;   // height of title with legend; height of the key labels
  bool is_legend_beside = false;  // the legend is next to the title
  double min_height = 0;          // height of the whole row; infinite if the space is too narrow
  TokenAxis keys{};
};
inline constexpr int kMinStages = 2;  // score and weight
int stage_count(const std::vector<ScoreMap>& maps);

// Plans a row of `stages` stages, by priority: score and weight, then weighted values, then terms.
RowPlan plan_row(const Page& page, const std::vector<ScoreMap>& maps, TokenAxis keys,
                 const Box& space, int stages);

struct RowPlot {
  Box bars;                    // area of the bars of all stages
  CellSpan columns;            // visible keys
  std::vector<Box> stages;     // charts
  double left = 0, right = 0;  // margins of the bars

  // Key at a point; -1 outside the bars. The plot may outlive the page.
  Index key_at(Point p) const;
};
// Places the charts within `box`, which must be at least plan.min_height high.
RowPlot place_row(const Page& page, const Box& box, const RowPlan& plan, const CellSpan& columns,
                  const RowStages& row);
// Draws the row, with the numbers of the key `marked_key` (-1: none). `query`: label of the query.
void draw_row(Page& page, const Box& box, const RowPlan& plan, const RowPlot& plot,
              const std::vector<ScoreMap>& maps, const RowStages& row, const std::string& query,
              Index marked_key);

}  // namespace attnscope
