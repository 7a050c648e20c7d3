// Line and bar charts: axes with ticks and titles, curves, bars, labelled values.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ChartAxis {
  double least = 0, most = 1;       // limits of the axis; least < most
  std::vector<std::string> titles;  // the longest title that fits is drawn; empty: none
  bool whole = false;               // ticks at integers only
  bool down = false;                // y axis only: values increase downwards
  bool numbers = true;              // draw tick labels
  std::vector<std::pair<double, std::string>> names{};  // x axis only: named ticks {value, name}
};

// A placed chart, mapping values to pixels. Empty (zero width) if it does not fit.
struct Chart {
  Box plot;
  ChartAxis x, y;
  bool empty() const { return !(plot.width > 0); }
  double at_x(double value) const {
    return plot.x + (value - x.least) / (x.most - x.least) * plot.width;
  }
  double at_y(double value) const {
    const double fraction = (value - y.least) / (y.most - y.least);
    return y.down ? plot.y + fraction * plot.height : plot.bottom() - fraction * plot.height;
  }
  double value_x(double pixel) const {
    return x.least + (pixel - plot.x) / plot.width * (x.most - x.least);
  }
  double value_y(double pixel) const {
    const double fraction = (y.down ? pixel - plot.y : plot.bottom() - pixel) / plot.height;
    return y.least + fraction * (y.most - y.least);
  }
};

// Places a chart within `outer`, leaving space for titles and tick labels.
Chart place_chart(const Page& page, const Box& outer, ChartAxis x, ChartAxis y);
// Width of the y axis: tick labels and title. Stacked charts use the largest width of their axes,
// so that their plots line up.
double y_axis_width(const Page& page, const ChartAxis& y);
// Width by which the tick labels of the placed chart exceed the estimate of y_axis_width().
double missing_y_axis_width(const Page& page, const Chart& chart);
// place_chart() with margins `left` and `right` of the plot.
Chart place_chart(const Page& page, const Box& outer, ChartAxis x, ChartAxis y, double left,
                  double right);

// Draws grid, frame, tick labels and titles. Every axis labels at least its limits.
void draw_chart(Page& page, const Chart& chart);
// Draws a curve through points in chart coordinates, clipped to the plot. NaN interrupts it.
void draw_curve(Page& page, const Chart& chart, const std::vector<Point>& points, Colour colour,
                double thickness);
// Draws a bar from zero (or the nearest limit) to `value`, centred at `x`; `width` in axis units.
void draw_bar(Page& page, const Chart& chart, double x, double width, double value, Colour colour);
// Draws `text` next to the point `at` (chart coordinates), with a vertical line through the point.
void draw_value(Page& page, const Chart& chart, Point at, const std::string& text);
// Axis that covers [minimum, maximum] with a margin; never empty. `with_zero`: extended to zero.
ChartAxis padded_axis(double minimum, double maximum, bool with_zero);

}  // namespace attnscope
