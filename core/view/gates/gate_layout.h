// Layout of the gates view, and its selected row.
#pragma once

#include <optional>
#include <vector>

#include "core/view/gates/gate_numbers.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// Stacked maps with common columns; the first has the tokens above it. Below them, if there is
// space, the chart of the selected rows.
struct GatePlaces {
  const GateSets& sets;
  const std::vector<TraceToken>& tokens;
  std::vector<MatrixPlot> maps{};  // one per set
  std::vector<PairAt> pairs{};     // one per set
  double top = 0;                  // of the summary line
  double bars = 0;                 // width of the bars next to the maps; 0: no space
  double bottom = 0;               // of the maps
  double chart_height = 0;         // 0: no space
  ChartAxis up{};                  // of the chart

  Index length() const { return static_cast<Index>(tokens.size()); }
  double left() const { return maps.front().plot.x - maps.front().left; }
  // Width of labels and cells.
  double width() const { return maps.front().left + maps.front().plot.width; }
  Index pinned_token() const { return maps.front().pinned_column; }
  // The hovered row of a set; otherwise the row of the selected layer (and head), else the first.
  Index shown_row(const ViewInput& input, std::size_t set) const;
};

// Heights of text, in em.
struct GateMeasures {
  static constexpr double line = 1.6;   // of a line of text
  static constexpr double title = 1.5;  // of a map's title
};

// Empty if there is no space.
std::optional<GatePlaces> place_gates(const Page& page, const Box& inside, const GateSets& sets,
                                      const std::vector<TraceToken>& tokens);

// Hit test: tokens of the shown segment are rows of its attention maps.
std::function<std::optional<Hit>(Point)> gate_hits(const ViewInput& input,
                                                   const GatePlaces& places);
// A click on a row's label selects its layer and head.
std::vector<Handle> gate_handles(const GatePlaces& places);

}  // namespace attnscope
