#include "app/window/dialogs/training_charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/figure/line_chart.h"
#include "core/training/loss_picture.h"

namespace attnscope::window {
namespace {

// Colours that are legible on light and dark backgrounds.
constexpr std::array<Colour, 8> kColours{{{61, 133, 210, 255},
                                          {222, 95, 24, 255},
                                          {46, 150, 90, 255},
                                          {160, 90, 200, 255},
                                          {200, 160, 30, 255},
                                          {210, 70, 110, 255},
                                          {40, 160, 170, 255},
                                          {130, 130, 130, 255}}};

LineChart small_chart(const TrainingCurve& curve, double width, double height) {
  LineChart chart;
  chart.width = width;
  chart.height = height;
  chart.x_label = "step";
  chart.labels_at_ends = true;
  chart.x.least = 0;
  chart.x.most = static_cast<double>(curve.steps);
  return chart;
}

// Name of a group of weights on screen: "layer 0" for "layers.0", "final norm" for "final_norm".
std::string layer_label(const std::string& group) {
  if (group == "embed") return "embedding";
  std::string label = group;
  if (const auto at = label.find("layers."); at != std::string::npos) {
    label.replace(at, std::strlen("layers."), "layer ");
  }
  std::ranges::replace(label, '_', ' ');
  std::ranges::replace(label, '.', ' ');
  return label;
}

// Points of the rows for which `value` is finite, averaged so that at most kMaxPoints remain.
template <class Value>
std::vector<Point> points_of(const std::vector<LossRow>& rows, Value value) {
  constexpr std::size_t kMaxPoints = 200;
  const std::size_t stride = (rows.size() + kMaxPoints - 1) / kMaxPoints;
  std::vector<Point> points;
  double sum = 0, steps = 0, count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = value(rows[i]);
    if (std::isfinite(y)) {
      sum += y;
      steps += static_cast<double>(rows[i].step);
      ++count;
    }
    if (i % stride != stride - 1 && i + 1 < rows.size()) continue;
    if (count > 0) points.push_back({steps / count, sum / count});
    sum = steps = count = 0;
  }
  return points;
}

}  // namespace

DisplayList loss_chart(const TrainingCurve& curve, double width, double height,
                       const Theme& theme) {
  LineChart chart = loss_line_chart(curve.rows);
  chart.width = width;
  chart.height = height;
  chart.x.least = 0;
  chart.x.most = static_cast<double>(curve.steps);
  std::vector<Point> rises;
  for (const TrainingCurve::Rise& rise : curve.rises) {
    const auto row = std::ranges::find(curve.rows, rise.step, &LossRow::step);
    if (row != curve.rows.end()) rises.push_back({static_cast<double>(rise.step), row->loss});
  }
  if (!rises.empty()) chart.curves.push_back({"rises", std::move(rises), kColours[5], 0, true});
  return draw(chart, theme);
}

DisplayList accuracy_chart(const TrainingCurve& curve, double width, double height,
                           const Theme& theme) {
  LineChart chart = small_chart(curve, width, height);
  chart.y_label = "share";
  chart.y.least = 0;
  chart.y.most = 1;
  const auto all_points = [&](auto value) {
    std::vector<Point> points;
    for (const LossRow& row : curve.rows) {
      if (std::isfinite(value(row))) points.push_back({static_cast<double>(row.step), value(row)});
    }
    return points;
  };
  chart.curves.push_back({"accuracy",
                          all_points([](const LossRow& row) { return row.held_out.accuracy; }),
                          kColours[1], 2, true});
  if (!curve.expected.empty()) {
    chart.curves.push_back({"best head",
                            all_points([](const LossRow& row) { return row.expected.weight; }),
                            kColours[2], 2, true});
    chart.curves.push_back({"uniform",
                            all_points([](const LossRow& row) { return row.expected.uniform; }),
                            kColours[7], 1, false, LineStroke::Dashed});
  }
  return draw(chart, theme);
}

DisplayList gradient_chart(const TrainingCurve& curve, double width, double height,
                           const Theme& theme) {
  LineChart chart = small_chart(curve, width, height);
  chart.y_label = "gradient norm";
  chart.y.logarithmic = true;
  for (std::size_t i = 0; i < curve.layers.size(); ++i) {
    const auto norm = [i](const LossRow& row) {
      return i < row.gradients.size() ? row.gradients[i] : std::nan("");
    };
    chart.curves.push_back({layer_label(curve.layers[i]), points_of(curve.rows, norm),
                            kColours[i % kColours.size()], 1.5});
  }
  return draw(chart, theme);
}

}  // namespace attnscope::window
