// Where the maps of gates stand, and what is looked at in them.
#pragma once

#include <optional>
#include <vector>

#include "core/view/gates/gate_numbers.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// Maps below each other, with the same columns; the first has the tokens above it. Below them,
// where there is space, the chart of the shown rows.
struct GatePlaces {
  const GateSets& sets;
  const std::vector<TraceToken>& tokens;
  std::vector<MatrixPlot> maps{};  // of each set
  std::vector<PairAt> pairs{};     // likewise
  double top = 0;                  // of the line of words above all
  double bars = 0;                 // width of what stands beside the maps; 0: no space
  double bottom = 0;               // of the maps
  double chart_height = 0;         // 0: no space
  ChartAxis up{};                  // of the chart

  Index length() const { return static_cast<Index>(tokens.size()); }
  double left() const { return maps.front().plot.x - maps.front().left; }
  // From there, of labels and cells.
  double width() const { return maps.front().left + maps.front().plot.width; }
  Index pinned_token() const { return maps.front().pinned_column; }
  // Set and row under the pointer; otherwise of each set the row of the layer (and head) that the
  // settings look at, else its first.
  Index shown_row(const ViewInput& input, std::size_t set) const;
};

// From set titles and bars to the maps, in em.
struct GateMeasures {
  static constexpr double line = 1.6;   // of a line of text
  static constexpr double title = 1.5;  // of a map's title
};

// Nothing where there is no space.
std::optional<GatePlaces> place_gates(const Page& page, const Box& inside, const GateSets& sets,
                                      const std::vector<TraceToken>& tokens);

// Tokens of the shown segment are rows of its maps.
std::function<std::optional<Hit>(Point)> gate_hits(const ViewInput& input,
                                                   const GatePlaces& places);
// A click on a row's name looks at its layer and head.
std::vector<Handle> gate_handles(const GatePlaces& places);

}  // namespace attnscope
