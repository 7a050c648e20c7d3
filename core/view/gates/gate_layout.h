// Layout of the gates view, and its selected row.
#pragma once

#include <optional>
#include <vector>

#include "core/view/gates/gate_numbers.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// Stacked maps with common columns. Token labels of the columns are above the first map. If there
// is space, a chart of the selected rows is below the maps.
struct GatePlaces {
  const GateSets& sets;
  const std::vector<TraceToken>& tokens;
  std::vector<MatrixPlot> maps{};  // one per set
  std::vector<PairAt> pairs{};     // one per set
  double top = 0;                  // top of the summary line
  double bars = 0;                 // width of the bars next to the maps; 0: omitted
  double bottom = 0;               // bottom of the maps
  double chart_height = 0;         // 0: the chart is omitted
  ChartAxis gate_axis{};           // y axis of the chart

  Index length() const { return static_cast<Index>(tokens.size()); }
  double left() const { return maps.front().plot.x - maps.front().left; }
  // Width of a map with its row labels.
  double width() const { return maps.front().left + maps.front().plot.width; }
  Index pinned_token() const { return maps.front().pinned_column; }
  // Row of a set in the chart: the hovered row, else the row of the selected head, else row 0.
  Index shown_row(const ViewInput& input, std::size_t set) const;
};

// Heights of text, in em.
struct GateMeasures {
  static constexpr double line = 1.6;   // height of a line of text
  static constexpr double title = 1.5;  // height of a map's title
};

// Returns nullopt if there is no space.
std::optional<GatePlaces> place_gates(const Page& page, const Box& inside, const GateSets& sets,
                                      const std::vector<TraceToken>& tokens);

// Hit test of the maps: reports the row's layer and head, with the token as query. Tokens outside
// the selected segment give no hit.
std::function<std::optional<Hit>(Point)> gate_hits(const ViewInput& input,
                                                   const GatePlaces& places);
// Handles that select a row's layer and head by a click on its label.
std::vector<Handle> gate_handles(const GatePlaces& places);

}  // namespace attnscope
