// Plots of numbers: axes with ticks and titles, curves and bars between them.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ChartAxis {
  double least = 0, most = 1;       // least < most
  std::vector<std::string> titles;  // the first that fits; none: no space for one
  bool whole = false;               // ticks at whole numbers only
  bool down = false;                // y: rising numbers run down
  bool numbers = true;              // beside the ticks
  std::vector<std::pair<double, std::string>> names{};  // x: in place of numbered ticks
};

// Where the numbers go. Empty (no width) where there is no space for it.
struct Chart {
  Box plot;
  ChartAxis x, y;
  bool empty() const { return !(plot.width > 0); }
  double at_x(double value) const {
    return plot.x + (value - x.least) / (x.most - x.least) * plot.width;
  }
  double at_y(double value) const {
    const double share = (value - y.least) / (y.most - y.least);
    return y.down ? plot.y + share * plot.height : plot.bottom() - share * plot.height;
  }
  double value_x(double pixel) const {
    return x.least + (pixel - plot.x) / plot.width * (x.most - x.least);
  }
  double value_y(double pixel) const {
    const double share = (y.down ? pixel - plot.y : plot.bottom() - pixel) / plot.height;
    return y.least + share * (y.most - y.least);
  }
};

// Within `outer`, with the space beside the plot that titles and numbers take.
Chart place_chart(const Page& page, const Box& outer, ChartAxis x, ChartAxis y);
// The same in charts that stand above each other, whose plots are to begin and end alike.
double chart_left(const Page& page, const ChartAxis& y);  // what numbers and title take
// What they take beyond that in a plot whose height gives its numbers more digits.
double lacking_left(const Page& page, const Chart& chart);
Chart place_chart(const Page& page, const Box& outer, ChartAxis x, ChartAxis y, double left,
                  double right);

// Grid, frame, numbers, titles. However small the chart is, its numbers say how far the axes run.
void draw_chart(Page& page, const Chart& chart);
// Through points in the chart's numbers; clipped at the plot's edges. NaN breaks the curve.
void draw_curve(Page& page, const Chart& chart, const std::vector<Point>& points, Colour colour,
                double thickness);
// From zero (or the nearest edge) to `value`, `width` (in the axis' units) wide about `x`.
void draw_bar(Page& page, const Chart& chart, double x, double width, double value, Colour colour);
// A number beside the place (in the chart's numbers) that it is about, within the plot, and a line
// through that place.
void draw_value(Page& page, const Chart& chart, Point at, const std::string& text);
// The range of numbers with a little air, for an axis; never empty. `with_zero`: zero is in it.
ChartAxis axis_of(double least, double most, bool with_zero);

}  // namespace attnscope
