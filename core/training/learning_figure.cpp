#include "core/training/learning_figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/figure/plain_text.h"
#include "core/training/loss_picture.h"

namespace attnscope {
namespace {

// Colours that are legible on light and dark backgrounds.
constexpr std::array<Colour, 8> kCurveColours{{{61, 133, 210, 255},
                                               {222, 95, 24, 255},
                                               {46, 150, 90, 255},
                                               {160, 90, 200, 255},
                                               {200, 160, 30, 255},
                                               {210, 70, 110, 255},
                                               {40, 160, 170, 255},
                                               {130, 130, 130, 255}}};
constexpr Colour kFirstLayer{61, 133, 210, 255}, kLastLayer{222, 95, 24, 255};
constexpr std::size_t kMaxLabels = 8;  // labels of layers in a chart

using RowValue = double (*)(const LossRow&);

double accuracy_of(const LossRow& row) {
  return row.held_out.accuracy;
}
double bits_of(const LossRow& row) {
  return row.held_out.bits_per_byte;
}
double gradient_of(const LossRow& row) {
  return row.gradient_norm;
}

LineChart step_chart(const LearningCurve& curve, const std::string& title) {
  LineChart chart;
  chart.title = title;
  chart.x_label = "step";
  chart.x.least = 0;
  chart.x.most =
      static_cast<double>(std::max(curve.steps, curve.rows.empty() ? 1 : curve.rows.back().step));
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

// Points of all rows for which `value` is finite.
std::vector<Point> all_points(const std::vector<LossRow>& rows, RowValue value) {
  std::vector<Point> points;
  for (const LossRow& row : rows) {
    if (std::isfinite(value(row))) points.push_back({static_cast<double>(row.step), value(row)});
  }
  return points;
}

// Points of the rows for which `value` is finite, averaged so that at most kMaxPoints remain.
template <class Value>
std::vector<Point> mean_points(const std::vector<LossRow>& rows, Value value) {
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

Colour layer_colour(std::size_t layer, std::size_t count) {
  if (count <= kCurveColours.size()) return kCurveColours[layer];
  const double share = static_cast<double>(layer) / static_cast<double>(count - 1);
  const auto mix = [share](std::uint8_t first, std::uint8_t last) {
    return static_cast<std::uint8_t>(std::lround((1 - share) * first + share * last));
  };
  return {mix(kFirstLayer.r, kLastLayer.r), mix(kFirstLayer.g, kLastLayer.g),
          mix(kFirstLayer.b, kLastLayer.b), 255};
}

void add_curve(LineChart& chart, const std::string& label, std::vector<Point> points, Colour colour,
               bool is_reference) {
  if (points.empty()) return;
  chart.curves.push_back({(is_reference ? "B: " : "") + label, std::move(points), colour,
                          is_reference ? 1.5 : 2, !is_reference,
                          is_reference ? LineStroke::Dashed : LineStroke::Solid});
}

}  // namespace

LineChart loss_chart(const LearningCurve& curve, const LearningCurve* reference) {
  LineChart chart = step_chart(curve, "Loss");
  LineChart losses = loss_line_chart(curve.rows);
  chart.y_label = losses.y_label;
  chart.curves = std::move(losses.curves);
  std::vector<Point> rises;
  for (const LearningCurve::Rise& rise : curve.rises) {
    const auto row = std::ranges::find(curve.rows, rise.step, &LossRow::step);
    if (row != curve.rows.end()) rises.push_back({static_cast<double>(rise.step), row->loss});
  }
  if (!rises.empty())
    chart.curves.push_back({"rises", std::move(rises), kCurveColours[5], 0, true});
  if (reference == nullptr) return chart;
  for (Curve& other : loss_line_chart(reference->rows).curves) {
    if (other.label.ends_with("each step")) continue;
    other.label = "B: " + other.label;
    other.stroke = LineStroke::Dashed;
    other.thickness = 1.5;
    other.dots = false;
    chart.curves.push_back(std::move(other));
  }
  return chart;
}

LineChart score_chart(const LearningCurve& curve, const LearningCurve* reference) {
  const bool has_accuracy = !all_points(curve.rows, accuracy_of).empty();
  const bool has_bits = !has_accuracy && !all_points(curve.rows, bits_of).empty();
  LineChart chart = step_chart(curve, has_bits ? "Held-out text" : "Accuracy");
  chart.labels_at_ends = true;
  chart.y_label = has_bits ? "bits per byte" : "share";
  if (!has_bits) {
    chart.y.least = 0;
    chart.y.most = 1;
  }
  const RowValue score = has_bits ? bits_of : accuracy_of;
  const std::string label = has_bits ? "bits per byte" : "accuracy";
  add_curve(chart, label, all_points(curve.rows, score), kCurveColours[1], false);
  if (reference != nullptr) {
    add_curve(chart, label, all_points(reference->rows, score), kCurveColours[1], true);
  }
  if (curve.expected.empty() || has_bits) return chart;
  const auto weight = [](const LossRow& row) { return row.expected.weight; };
  add_curve(chart, "best head", all_points(curve.rows, weight), kCurveColours[2], false);
  if (reference != nullptr) {
    add_curve(chart, "best head", all_points(reference->rows, weight), kCurveColours[2], true);
    return chart;
  }
  std::vector<Point> uniform =
      all_points(curve.rows, [](const LossRow& row) { return row.expected.uniform; });
  chart.curves.push_back(
      {"uniform", std::move(uniform), kCurveColours[7], 1, false, LineStroke::Dashed});
  return chart;
}

LineChart gradient_chart(const LearningCurve& curve, const LearningCurve* reference) {
  LineChart chart = step_chart(curve, reference ? "Gradient norm" : "Gradient norm by layer");
  chart.labels_at_ends = true;
  chart.y_label = "gradient norm";
  chart.y.logarithmic = true;
  if (reference != nullptr) {
    const Colour colour = kCurveColours[0];
    chart.curves.push_back({"A", mean_points(curve.rows, gradient_of), colour, 1.5});
    chart.curves.push_back(
        {"B", mean_points(reference->rows, gradient_of), colour, 1.5, false, LineStroke::Dashed});
    return chart;
  }
  const std::size_t count = curve.layers.size();
  const std::size_t stride = (count + kMaxLabels - 1) / kMaxLabels;
  for (std::size_t i = 0; i < count; ++i) {
    const auto norm = [i](const LossRow& row) {
      return i < row.gradients.size() ? row.gradients[i] : std::nan("");
    };
    const bool has_label = i % stride == 0 || count <= kMaxLabels;
    chart.curves.push_back({has_label ? layer_label(curve.layers[i]) : "",
                            mean_points(curve.rows, norm), layer_colour(i, count), 1.5});
  }
  return chart;
}

void mark_step(LineChart& chart, Index step, LineStroke stroke) {
  double least = chart.y.least, most = chart.y.most;
  bool is_empty = !(least < most);
  for (const Curve& curve : chart.curves) {
    for (const Point& p : curve.points) {
      if (!std::isfinite(p.y) || (chart.y.logarithmic && p.y <= 0)) continue;
      least = is_empty ? p.y : std::min(least, p.y);
      most = is_empty ? p.y : std::max(most, p.y);
      is_empty = false;
    }
  }
  if (is_empty) return;
  const auto x = static_cast<double>(step);
  chart.curves.push_back({"", {{x, least}, {x, most}}, kCurveColours[7], 1.5, false, stroke, true});
}

std::string describe_step(const LearningCurve& curve, Index step) {
  const auto after = std::ranges::upper_bound(curve.rows, step, {}, &LossRow::step);
  if (after == curve.rows.begin()) return "";
  const LossRow& row = *std::prev(after);
  const auto scored = std::find_if(std::make_reverse_iterator(after), curve.rows.rend(),
                                   [](const LossRow& r) { return !std::isnan(r.held_out.loss); });
  std::string text = "step " + std::to_string(row.step);
  if (curve.steps > 0) text += " of " + std::to_string(curve.steps);
  text += ": loss " + brief(row.loss, 3);
  if (scored == curve.rows.rend()) return text;
  const Score& score = scored->held_out;
  text += ", held out " + brief(score.loss, 3);
  if (!std::isnan(score.bits_per_byte))
    text += ", " + brief(score.bits_per_byte, 3) + " bits per byte";
  if (!std::isnan(score.accuracy)) text += ", accuracy " + fixed(score.accuracy, 2);
  return text;
}

}  // namespace attnscope
