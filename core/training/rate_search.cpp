#include "core/training/rate_search.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/line_chart.h"
#include "core/figure/plain_text.h"
#include "core/training/trainer.h"

namespace attnscope {
namespace {

constexpr double kSmoothing = 0.85;    // weight of the earlier losses
constexpr double kStopRise = 0.5;      // of the first loss above the smallest one
constexpr std::size_t kSkipped = 5;    // first points, whose mean has few losses
constexpr std::size_t kHalfWidth = 3;  // of a slope, in points

double smoothed_loss(const std::vector<RatePoint>& points) {
  double sum = 0, weights = 0, weight = 1;
  for (auto point = points.rbegin(); point != points.rend(); ++point) {
    sum += weight * point->loss;
    weights += weight;
    weight *= kSmoothing;
  }
  return sum / weights;
}

// Rate of the steepest descent before the smallest smoothed loss.
double steepest_rate(const std::vector<RatePoint>& points) {
  const auto least = std::ranges::min_element(points, {}, &RatePoint::smoothed);
  const auto last = static_cast<std::size_t>(least - points.begin());
  double best = 0, rate = 0;
  for (std::size_t i = kSkipped + kHalfWidth; i + kHalfWidth <= last; ++i) {
    const RatePoint &a = points[i - kHalfWidth], &b = points[i + kHalfWidth];
    const double slope = (b.smoothed - a.smoothed) / std::log(b.rate / a.rate);
    if (slope >= best) continue;
    best = slope;
    rate = points[i].rate;
  }
  return rate;
}

}  // namespace

RateSearch find_learning_rate(const TrainingPlan& plan, const RateSearchSettings& settings,
                              const std::function<void(const RateSearch&)>& progress) {
  TrainingPlan fresh = plan;
  fresh.folder /= "learning-rate";  // has no training state
  Trainer trainer(fresh);
  RateSearch search;
  double least = 0;
  for (Index step = 0; step < settings.steps; ++step) {
    const double fraction = static_cast<double>(step) / static_cast<double>(settings.steps - 1);
    const double rate =
        settings.min_rate * std::pow(settings.max_rate / settings.min_rate, fraction);
    try {
      search.points.push_back({rate, trainer.step_at(rate).loss, 0});
    } catch (const WorkError&) {  // the loss is no longer finite
      break;
    }
    RatePoint& point = search.points.back();
    point.smoothed = smoothed_loss(search.points);
    least = step == 0 ? point.smoothed : std::min(least, point.smoothed);
    search.steepest = steepest_rate(search.points);
    if (progress) progress(search);
    if (point.smoothed > least + kStopRise * std::abs(search.points.front().loss)) break;
  }
  return search;
}

std::string to_csv(const RateSearch& search) {
  std::string text = "rate,loss,smoothed\n";
  for (const RatePoint& point : search.points) {
    text +=
        brief(point.rate, 6) + "," + brief(point.loss, 6) + "," + brief(point.smoothed, 6) + "\n";
  }
  return text;
}

LineChart rate_line_chart(const RateSearch& search) {
  constexpr Colour kLoss{61, 133, 210, 80}, kMean{61, 133, 210, 255}, kChoice{222, 95, 24, 255};
  LineChart chart;
  chart.x_label = "learning rate";
  chart.y_label = "loss (nats per token)";
  chart.x.logarithmic = true;
  std::vector<Point> losses, means, choice;
  for (const RatePoint& point : search.points) {
    losses.push_back({point.rate, point.loss});
    means.push_back({point.rate, point.smoothed});
    if (point.rate == search.steepest) choice.push_back({point.rate, point.smoothed});
  }
  chart.curves.push_back({"each step", std::move(losses), kLoss, 1});
  chart.curves.push_back({"running mean", std::move(means), kMean, 2});
  if (!choice.empty()) {
    chart.curves.push_back(
        {"steepest descent: " + brief(search.steepest, 2), std::move(choice), kChoice, 2, true});
  }
  return chart;
}

DisplayList rate_picture(const RateSearch& search, const std::string& title, const Theme& theme) {
  LineChart chart = rate_line_chart(search);
  chart.title = title;
  return draw(chart, theme);
}

}  // namespace attnscope
