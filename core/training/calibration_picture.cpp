#include "core/training/calibration_picture.h"

#include <algorithm>

#include "core/figure/colour_map.h"
#include "core/figure/line_chart.h"

namespace attnscope {

DisplayList calibration_picture(const Calibration& calibration, double width, double height,
                                const Theme& theme, const TextMeasure& measure) {
  const CalibrationRequest& request = calibration.request;
  const bool is_test = request.method == CalibrationMethod::LearnThenTest;
  const ColourMap& colours = colour_map(kCategories);
  LineChart chart;
  chart.title = "Early exits: cost and savings";
  chart.x_label = "confidence threshold for exits";
  chart.y_label = is_test ? "share" : "nats per token, share of layers";
  chart.width = width;
  chart.height = height;
  chart.x.least = 0;
  chart.x.most = 1;
  chart.y.least = 0;
  chart.y.most = 1;
  Curve cost{.label = is_test ? "different predictions" : "additional loss",
             .points = {},
             .colour = colours.colours[1],
             .thickness = 2.2,
             .dots = true};
  Curve savings{.label = "skipped layers",
                .points = {},
                .colour = colours.colours[0],
                .thickness = 2.2,
                .dots = true};
  for (const CalibrationPoint& point : calibration.points) {
    const ExitEffect& effect = point.effect;
    const double value = is_test ? effect.changed_fraction : effect.loss - calibration.full_loss;
    cost.points.push_back({effect.threshold, value});
    savings.points.push_back(
        {effect.threshold, 1 - effect.layers / static_cast<double>(calibration.layers)});
  }
  // Thresholds are in descending order, the x axis is ascending.
  std::ranges::reverse(cost.points);
  std::ranges::reverse(savings.points);
  chart.curves = {{.label = "tolerance",
                   .points = {{0, request.tolerance}, {1, request.tolerance}},
                   .colour = theme.faint_text,
                   .thickness = 1.5,
                   .stroke = LineStroke::Dashed},
                  cost,
                  savings};
  if (calibration.threshold) {
    const double threshold = *calibration.threshold;
    chart.curves.push_back({.label = "selected threshold",
                            .points = {{threshold, 0}, {threshold, 1}},
                            .colour = theme.accent,
                            .thickness = 2,
                            .stroke = LineStroke::Dotted});
  }
  chart.note = summary(calibration);
  return draw(chart, theme, measure);
}

}  // namespace attnscope
