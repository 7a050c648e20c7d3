// What stands along the sides of a matrix: tokens, thinned out so that they never overlap.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/key_token.h"
#include "core/view/parts/page.h"

namespace attnscope {

const char* name_of(KeyKind kind);  // "memory", "tokens"

// A run of columns that are no tokens, or a memory's: shown as a band beside the labels.
struct ColumnBand {
  Index first = 0, count = 0;
  std::string name;  // "memory"
};

// The cells of one side of a matrix.
struct TokenAxis {
  std::vector<std::string>
      titles;  // "key (to)", "key": the first that fits; none: no space for one
  std::vector<std::string> labels;  // one a cell
  std::vector<ColumnBand> bands;
  struct Widest {
    double label, with_index;  // pixels
  };
  std::optional<Widest> widest{};  // where measured() found it
  Index count() const { return static_cast<Index>(labels.size()); }
};
TokenAxis query_axis(const Trace& trace, const AttentionTap& tap);
TokenAxis key_axis(const Trace& trace, const AttentionTap& tap);
// With its widest label, for whoever asks for depths again and again.
TokenAxis measured(const Page& page, TokenAxis axis);

// Where an axis runs: cells [first, first + extent) over pixels [from, from + length).
struct AxisPlace {
  double first = 0, extent = 0;
  double from = 0, length = 0;
  double cell() const { return length / extent; }  // pixels
  double centre(Index i) const {
    return from + (static_cast<double>(i) + 0.5 - first) * length / extent;
  }
};

// Every which cell gets a label, 1, 2, 5, 10, 20, ..., so that labels of this height fit.
Index label_step(double cell, double label_height);

// The space that labels, bands and title take beside the plot; the same at every zoom. `whole`:
// the pixels that all cells get when nothing is zoomed; `most`: for the labels.
double axis_depth_left(const Page& page, const TokenAxis& axis, double whole, double most);
double axis_depth_top(const Page& page, const TokenAxis& axis, double whole, double most);
// Where that is not known yet: many cells are taken to be narrow.
double axis_depth_left(const Page& page, const TokenAxis& axis, double most);

// Of the axes to the left of a plot and above it. The depth of each hangs on the size of the plot
// (labels that thin out have their index, and those above stand upright where cells are narrow),
// and that size on the depths: `plot` gives it. No depth is less than the plot of its size needs.
struct AxisDepths {
  double left = 0, top = 0;
};
struct PlotSize {
  double width = 0, height = 0;
};
AxisDepths settled_depths(const Page& page, const TokenAxis& rows, const TokenAxis& columns,
                          const AxisDepths& most,
                          const std::function<PlotSize(const AxisDepths&)>& plot);

// Draw an axis into its depth; `marked` is the cell under the pointer, or -1.
void draw_axis_left(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_left,
                    double depth, Index marked);
void draw_axis_right(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_right,
                     double depth, Index marked);
void draw_axis_top(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_top,
                   double depth, Index marked);

// The names of both axes in the corner between them, where the axes have none of their own: cells
// begin at `corner`, and the names nowhere before `left_end`.
double axis_titles_width(const Page& page);  // beside `corner`, at least
void draw_axis_titles(Page& page, Point corner, double left_end);
void draw_key_title(Page& page, Point corner, double left_end);  // of the keys alone

}  // namespace attnscope
