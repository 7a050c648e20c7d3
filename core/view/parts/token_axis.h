// Axes of token labels along a matrix, thinned out so that labels never overlap.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/key_token.h"
#include "core/view/parts/page.h"

namespace attnscope {

const char* name_of(KeyKind kind);  // "memory", "tokens"

// Consecutive cells of one kind, such as memory, marked by a band next to their labels.
struct ColumnBand {
  Index first = 0, count = 0;
  std::string name;  // "memory"
};

// The cells of one side of a matrix.
struct TokenAxis {
  std::vector<std::string> titles;  // "key (to)", "key": the first that fits; empty: no title
  std::vector<std::string> labels;  // one per cell
  std::vector<ColumnBand> bands;
  struct Widest {
    double label, with_index;  // pixels
  };
  std::optional<Widest> widest{};  // set by measured()
  Index count() const { return static_cast<Index>(labels.size()); }
};
TokenAxis query_axis(const Trace& trace, const AttentionTap& tap);
TokenAxis key_axis(const Trace& trace, const AttentionTap& tap);
// The axis with TokenAxis::widest set, which makes repeated calls of axis_depth_*() fast.
TokenAxis measured(const Page& page, TokenAxis axis);

// Extent of an axis: cells [first, first + extent) over pixels [from, from + length).
struct AxisPlace {
  double first = 0, extent = 0;
  double from = 0, length = 0;
  double cell() const { return length / extent; }  // pixels
  double centre(Index i) const {
    return from + (static_cast<double>(i) + 0.5 - first) * length / extent;
  }
};

// Spacing of labelled cells (1, 2, 5, 10, 20, ...) at which labels of this height fit.
Index label_step(double cell, double label_height);

// Depth of labels, bands and title next to the plot, independent of zoom. `length`: length of all
// cells in pixels, without zoom; `max_labels`: maximum depth of the labels.
double axis_depth_left(const Page& page, const TokenAxis& axis, double length, double max_labels);
double axis_depth_top(const Page& page, const TokenAxis& axis, double length, double max_labels);
// Depth before the plot's size is known; assumes that cells are narrow if there are many.
double axis_depth_left(const Page& page, const TokenAxis& axis, double max_labels);

// Depths of the axes to the left of a plot and above it. Depths depend on the plot's size, because
// thinned labels show their index and labels above narrow cells are vertical. `plot` returns the
// size of a plot with given depths. The result suffices for a plot of the size `plot(result)`.
struct AxisDepths {
  double left = 0, top = 0;
};
struct PlotSize {
  double width = 0, height = 0;
};
AxisDepths settled_depths(const Page& page, const TokenAxis& rows, const TokenAxis& columns,
                          const AxisDepths& max_depths,
                          const std::function<PlotSize(const AxisDepths&)>& plot);

// Draw an axis within its depth; `marked`: the cell under the pointer, or -1.
void draw_axis_left(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_left,
                    double depth, Index marked);
void draw_axis_right(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_right,
                     double depth, Index marked);
void draw_axis_top(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_top,
                   double depth, Index marked);

// Draw the titles of both axes in the corner between them, for axes without TokenAxis::titles. The
// cells begin at `corner`; the titles are to the right of `left_end`.
double axis_titles_width(const Page& page);  // minimum space to the left of `corner`
void draw_axis_titles(Page& page, Point corner, double left_end);
void draw_key_title(Page& page, Point corner, double left_end);  // key axis only

}  // namespace attnscope
