// Figure and tables of achieved returns.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/line_chart.h"
#include "core/figure/plain_text.h"
#include "core/figure/text_table.h"
#include "core/training/returns.h"

namespace attnscope {
namespace {

// "paths, last step alone"
std::string curve_name(const ReturnCurve& curve) {
  if (!curve.conditioned) return curve.model + ", behaviour cloning";
  if (curve.context == 0) return curve.model + ", all steps";
  return curve.model + (curve.context == 1 ? ", last step alone"
                                           : ", last " + std::to_string(curve.context) + " steps");
}

std::string describe_world(World world) {
  if (world == World::Grid) return "Shortest-path grid of 5 × 5 cells";
  return "Steering in the plane, with continuous actions, from the centres of 5 × 5 cells";
}

// Empty for NaN: no start is near enough for the request.
std::string number(double value, int digits) {
  return std::isnan(value) ? "" : fixed(value, digits);
}

double requested_return(Index steps) {
  return static_cast<double>(Grid::return_to_go(steps));
}

}  // namespace

DisplayList returns_picture(const ReturnCurves& curves, double width, double height,
                            const Theme& theme, const TextMeasure& measure) {
  const auto& colours = colour_map(kCategories).colours;
  const double worst = requested_return(curves.max_steps + 1);
  LineChart chart;
  chart.title = "Return achieved by return requested";
  chart.x_label = "requested return";
  chart.y_label = "mean achieved return";
  chart.width = width;
  chart.height = height;
  chart.labels_at_ends = true;
  chart.x.least = chart.y.least = worst;
  chart.x.most = chart.y.most = 0;
  chart.note = describe_world(curves.curves.empty() ? World::Grid : curves.curves.front().world) +
               ": each step costs 0.1, and the goal ends the walk. "
               "Means over the starts from which the goal is near enough for the request. A walk "
               "that misses the goal within " +
               std::to_string(curves.max_steps) + " steps counts as " + fixed(worst, 1) +
               ". Behaviour cloning sees no return.";
  chart.curves.push_back({.label = "as requested",
                          .points = {{worst, worst}, {requested_return(1), requested_return(1)}},
                          .colour = theme.faint_text,
                          .thickness = 1.5,
                          .stroke = LineStroke::Dashed});
  for (std::size_t n = 0; n < curves.curves.size(); ++n) {
    const ReturnCurve& curve = curves.curves[n];
    Curve line{.label = curve_name(curve),
               .points = {},
               .colour = colours[n % colours.size()],
               .thickness = 2.2,
               .dots = true,
               .stroke = curve.conditioned ? LineStroke::Solid : LineStroke::Dotted};
    for (Index steps = curves.max_steps; steps >= 1; --steps) {  // returns ascending
      const double achieved = curve.achieved[static_cast<std::size_t>(steps - 1)];
      if (!std::isnan(achieved)) line.points.push_back({requested_return(steps), achieved});
    }
    chart.curves.push_back(std::move(line));
  }
  return draw(chart, theme, measure);
}

std::string to_csv(const ReturnCurves& curves) {
  std::string csv = "model,context,conditioned,requested,achieved,within\n";
  for (const ReturnCurve& curve : curves.curves) {
    for (Index steps = 1; steps <= curves.max_steps; ++steps) {
      const auto n = static_cast<std::size_t>(steps - 1);
      csv += csv_field(curve.model) + "," +
             (curve.context == 0 ? "all" : std::to_string(curve.context)) + "," +
             (curve.conditioned ? "true" : "false") + "," + fixed(requested_return(steps), 1) +
             "," + number(curve.achieved[n], 4) + "," + number(curve.within[n], 4) + "\n";
    }
  }
  return csv;
}

std::string to_table(const ReturnCurves& curves) {
  constexpr std::size_t kRequested = 9;
  std::string table = right_aligned("requested", kRequested);
  for (const ReturnCurve& curve : curves.curves) {
    const std::string name = curve_name(curve);
    table += right_aligned(name, name.size() + 3);
  }
  table += "   (mean achieved return)\n";
  for (Index steps = 1; steps <= curves.max_steps; ++steps) {
    table += right_aligned(fixed(requested_return(steps), 1), kRequested);
    for (const ReturnCurve& curve : curves.curves) {
      const double achieved = curve.achieved[static_cast<std::size_t>(steps - 1)];
      table += right_aligned(std::isnan(achieved) ? "none" : fixed(achieved, 3),
                             curve_name(curve).size() + 3);
    }
    table += "\n";
  }
  return table;
}

}  // namespace attnscope
