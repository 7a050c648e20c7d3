#include "core/training/loss_picture.h"

#include <algorithm>
#include <cmath>

#include "core/figure/line_chart.h"

namespace attnscope {
namespace {

// Colours that are legible on light and dark backgrounds.
constexpr Colour kStep{61, 133, 210, 80}, kMean{61, 133, 210, 255}, kHeldOut{222, 95, 24, 255};
constexpr std::size_t kHalfWidthDivisor = 50;  // the running mean spans 2 / 50 of all steps

std::vector<Point> step_points(const std::vector<LossRow>& rows) {
  std::vector<Point> points;
  for (const LossRow& row : rows) points.push_back({static_cast<double>(row.step), row.loss});
  return points;
}

// Mean over a symmetric window around each step. Windows are narrower near the ends.
std::vector<Point> running_mean(const std::vector<LossRow>& rows) {
  std::vector<double> sums{0};
  for (const LossRow& row : rows) sums.push_back(sums.back() + row.loss);
  std::vector<Point> points;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t half = std::min({i, rows.size() - 1 - i, rows.size() / kHalfWidthDivisor});
    const double sum = sums[i + half + 1] - sums[i - half];
    points.push_back({static_cast<double>(rows[i].step), sum / static_cast<double>(2 * half + 1)});
  }
  return points;
}

std::vector<Point> held_out_points(const std::vector<LossRow>& rows) {
  std::vector<Point> points;
  for (const LossRow& row : rows) {
    if (std::isnan(row.held_out.loss)) continue;
    points.push_back({static_cast<double>(row.step), row.held_out.loss});
  }
  return points;
}

}  // namespace

LineChart loss_line_chart(const std::vector<LossRow>& rows) {
  LineChart chart;
  chart.x_label = "step";
  chart.y_label = "loss (nats per token)";
  chart.curves.push_back({"training, each step", step_points(rows), kStep, 1, false});
  chart.curves.push_back({"training, running mean", running_mean(rows), kMean, 2, false});
  std::vector<Point> points = held_out_points(rows);
  if (!points.empty()) {
    chart.curves.push_back({"held out", std::move(points), kHeldOut, 2, true});
  }
  return chart;
}

DisplayList loss_picture(const std::vector<LossRow>& rows, const std::string& title,
                         const Theme& theme) {
  LineChart chart = loss_line_chart(rows);
  chart.title = title;
  return draw(chart, theme);
}

}  // namespace attnscope
