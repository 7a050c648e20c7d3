#include "core/view/parts/chart.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/figure/ticks.h"

namespace attnscope {
namespace {

constexpr double kTitleDepth = 1.4;    // em
constexpr double kNumberDepth = 1.35;  // em, below the plot
constexpr double kNumberGap = 0.45;    // em between the plot and the numbers to its left
constexpr double kMaxNumber = 4.5;     // em, maximum width of the numbers to the left
constexpr double kTickDistance = 2.4;  // em between ticks of the y axis
constexpr int kMinYTicks = 3;          // minimum number of requested ticks of the y axis
constexpr double kMinWidth = 3, kMinHeight = 1.2;  // em, of a plot

struct Ticks {
  std::vector<double> values;
  std::vector<std::string> texts;
};

Ticks ticks_of(const ChartAxis& axis, int count) {
  constexpr std::size_t kMinTicks = 3;
  Ticks ticks;
  if (!axis.names.empty()) {
    for (const auto& [value, name] : axis.names) {
      ticks.values.push_back(value);
      ticks.texts.push_back(name);
    }
    return ticks;
  }
  // Round steps can yield a single tick: request a few more.
  for (int i = 0; i < 3 && (i == 0 || (count > 2 && ticks.values.size() < kMinTicks)); ++i) {
    ticks.values = round_ticks(axis.least, axis.most, std::max(1, count + i));
  }
  if (axis.whole) {
    std::erase_if(ticks.values, [](double v) { return std::abs(v - std::round(v)) > 1e-6; });
  }
  const double step =
      ticks.values.size() > 1 ? ticks.values[1] - ticks.values[0] : axis.most - axis.least;
  for (const double v : ticks.values) ticks.texts.push_back(tick_text(v, step));
  return ticks;
}

double widest(const Page& page, const Ticks& ticks) {
  double width = 0;
  for (const std::string& text : ticks.texts) {
    width = std::max(width, page.width_of(text, page.small()));
  }
  return width;
}

Ticks limit_ticks(const ChartAxis& axis) {
  if (axis.names.size() > 1) {
    const auto &first = axis.names.front(), &last = axis.names.back();
    return {{first.first, last.first}, {first.second, last.second}};
  }
  const double lowest = axis.whole ? std::ceil(axis.least) : axis.least;
  const double highest = axis.whole ? std::floor(axis.most) : axis.most;
  if (!(lowest < highest)) return {{lowest}, {brief(lowest, 2)}};
  return {{lowest, highest}, {brief(lowest, 2), brief(highest, 2)}};
}

// Ticks of the y axis: all if they fit, otherwise the lowest and the highest.
Ticks y_ticks(const Page& page, const Chart& chart) {
  const int count =
      std::max(kMinYTicks, static_cast<int>(chart.plot.height / (kTickDistance * page.em())));
  Ticks ticks = ticks_of(chart.y, count);
  const double line = 1.2 * page.small();
  const auto distance = [&](std::size_t a, std::size_t b) {
    return std::abs(chart.at_y(ticks.values[b]) - chart.at_y(ticks.values[a]));
  };
  if (ticks.values.size() < 2) return limit_ticks(chart.y);
  const std::size_t last = ticks.values.size() - 1;
  if (distance(0, 1) >= line) return ticks;
  if (distance(0, last) < line) return limit_ticks(chart.y);
  return {{ticks.values[0], ticks.values[last]}, {ticks.texts[0], ticks.texts[last]}};
}

// Ticks of the x axis: as many as fit with a gap between their labels.
Ticks x_ticks(const Page& page, const Chart& chart) {
  const auto fits = [&](const Ticks& ticks) {
    const auto n = static_cast<double>(ticks.values.size());
    return n * (widest(page, ticks) + page.em()) <= chart.plot.width + page.em();
  };
  for (int count = std::max(2, static_cast<int>(chart.plot.width / (4 * page.em())));; --count) {
    Ticks ticks = ticks_of(chart.x, count);
    if (fits(ticks) && ticks.values.size() > 1) return ticks;
    if (count > 1) continue;
    const Ticks limits = limit_ticks(chart.x);
    if (fits(limits)) return limits;
    return fits(ticks) ? ticks : Ticks{};
  }
}

}  // namespace

double y_axis_width(const Page& page, const ChartAxis& y) {
  // Assumes the tick labels of a plot of typical height.
  const double label_width =
      y.numbers
          ? std::min(widest(page, ticks_of(y, 4)), kMaxNumber * page.em()) + kNumberGap * page.em()
          : 0;
  return label_width + (y.titles.empty() ? 0.2 : kTitleDepth) * page.em();
}

double missing_y_axis_width(const Page& page, const Chart& chart) {
  if (chart.empty() || !chart.y.numbers) return 0;
  const auto label_width = [&](const Ticks& ticks) {
    return std::min(widest(page, ticks), kMaxNumber * page.em());
  };
  return std::max(0.0, label_width(y_ticks(page, chart)) - label_width(ticks_of(chart.y, 4)));
}

Chart place_chart(const Page& page, const Box& outer, ChartAxis x, ChartAxis y) {
  const double left = y_axis_width(page, y);
  const double right =
      x.numbers ? page.width_of(tick_text(x.most, x.most - x.least), page.small()) / 2 + 2 : 2;
  const double margin = std::max(right, page.em());
  Chart chart = place_chart(page, outer, x, y, left, margin);
  const double missing = missing_y_axis_width(page, chart);
  if (!(missing > 0)) return chart;
  return place_chart(page, outer, std::move(x), std::move(y), left + missing, margin);
}

Chart place_chart(const Page& page, const Box& outer, ChartAxis x, ChartAxis y, double left,
                  double right) {
  const double em = page.em();
  const double top = y.numbers ? 0.5 * em : 0.1 * em;
  const double bottom = (x.numbers ? kNumberDepth * em : 0) +
                        (x.titles.empty() ? 0 : kTitleDepth * em) + (y.numbers ? 0.4 * em : 2);
  Chart chart{{}, std::move(x), std::move(y)};
  const Box plot{outer.x + left, outer.y + top, outer.width - left - right,
                 outer.height - top - bottom};
  if (plot.width >= kMinWidth * em && plot.height >= kMinHeight * em) chart.plot = plot;
  return chart;
}

void draw_chart(Page& page, const Chart& chart) {
  if (chart.empty()) return;
  const double em = page.em();
  const Box& plot = chart.plot;
  const Colour grid_colour = translucent(page.theme().line, 0.35);
  const Ticks y_axis = y_ticks(page, chart);
  const double width = std::min(widest(page, y_axis), kMaxNumber * em);
  for (std::size_t i = 0; i < y_axis.values.size(); ++i) {
    const double y = chart.at_y(y_axis.values[i]);
    page.add(Line{{{plot.x, y}, {plot.right(), y}}, grid_colour, 1});
    if (!chart.y.numbers) continue;
    page.faint_text({plot.x - kNumberGap * em, y},
                    page.ellipsised(y_axis.texts[i], page.small(), width), page.small(),
                    Align::End);
  }
  const Ticks x_axis = x_ticks(page, chart);
  for (std::size_t i = 0; i < x_axis.values.size(); ++i) {
    const double x = chart.at_x(x_axis.values[i]);
    page.add(Line{{{x, plot.y}, {x, plot.bottom()}}, grid_colour, 1});
    if (!chart.x.numbers) continue;
    page.faint_text({x, plot.bottom() + 0.95 * em}, x_axis.texts[i], page.small(), Align::Middle);
  }
  const Colour line_colour = page.theme().line;
  if (chart.y.least < 0 && chart.y.most > 0) {
    page.add(Line{{{plot.x, chart.at_y(0)}, {plot.right(), chart.at_y(0)}}, line_colour, 1});
  }
  page.add(OutlinedBox{plot, line_colour, 1});
  if (!chart.x.titles.empty()) {
    const double depth = (chart.x.numbers ? kNumberDepth : 0.2) + kTitleDepth / 2 + 0.4;
    page.faint_text({plot.x + plot.width / 2, plot.bottom() + depth * em},
                    page.fitting(chart.x.titles, page.small(), plot.width), page.small(),
                    Align::Middle);
  }
  if (!chart.y.titles.empty()) {
    const double labels = chart.y.numbers ? width + kNumberGap * em : 0;
    page.faint_text({plot.x - labels - kTitleDepth * em / 2, plot.y + plot.height / 2},
                    page.fitting(chart.y.titles, page.small(), plot.height + 0.5 * em),
                    page.small(), Align::Middle, 90);
  }
}

void draw_curve(Page& page, const Chart& chart, const std::vector<Point>& points, Colour colour,
                double thickness) {
  if (chart.empty()) return;
  page.add(Clip{chart.plot});
  Line line{{}, colour, thickness};
  const auto finish_line = [&] {
    if (line.points.size() > 1) page.add(line);
    line.points.clear();
  };
  for (const Point& p : points) {
    if (std::isfinite(p.x) && std::isfinite(p.y)) {
      line.points.push_back({chart.at_x(p.x), chart.at_y(p.y)});
    } else {
      finish_line();
    }
  }
  finish_line();
  page.add(Clip{});
}

void draw_bar(Page& page, const Chart& chart, double x, double width, double value, Colour colour) {
  if (chart.empty() || !std::isfinite(value)) return;
  const auto clamped = [&chart](double v) { return std::clamp(v, chart.y.least, chart.y.most); };
  const double from = chart.at_y(clamped(0)), to = chart.at_y(clamped(value));
  const double left = std::max(chart.at_x(x - width / 2), chart.plot.x);
  const double right = std::min(chart.at_x(x + width / 2), chart.plot.right());
  if (right > left) {
    page.add(FilledBox{{left, std::min(from, to), right - left, std::abs(from - to)}, colour});
  }
}

void draw_value(Page& page, const Chart& chart, Point at, const std::string& text) {
  if (chart.empty() || !std::isfinite(at.x) || !std::isfinite(at.y)) return;
  const double size = page.small(), height = 1.3 * size;
  const double width = page.width_of(text, size) + 0.6 * size;
  const Box& plot = chart.plot;
  const double y = chart.at_y(at.y), gap = 0.3 * size;
  // The text's box is beyond the end of a bar, but within the plot.
  const bool upwards = y <= chart.at_y(std::clamp(0.0, chart.y.least, chart.y.most));
  const auto within = [](double value, double minimum, double maximum) {
    return std::clamp(value, minimum, std::max(minimum, maximum));
  };
  const Box box{within(chart.at_x(at.x) - width / 2, plot.x, plot.right() - width),
                within(upwards ? y - gap - height : y + gap, plot.y, plot.bottom() - height), width,
                height};
  const Colour accent = page.theme().accent;
  const double x = chart.at_x(at.x);
  page.add(Line{{{x, plot.y}, {x, plot.bottom()}}, translucent(accent, 0.5), 1});
  page.add(FilledBox{box, page.theme().background, 0.2 * size});
  page.add(OutlinedBox{box, translucent(accent, 0.7), 1});
  page.text({box.x + width / 2, box.y + height / 2}, text, size, Align::Middle);
}

ChartAxis padded_axis(double minimum, double maximum, bool with_zero) {
  constexpr double kMargin = 0.06;
  if (!std::isfinite(minimum) || !std::isfinite(maximum)) minimum = maximum = 0;
  if (with_zero) {
    minimum = std::min(minimum, 0.0);
    maximum = std::max(maximum, 0.0);
  }
  if (!(minimum < maximum)) {
    const double spread = std::max(1.0, std::abs(minimum)) / 2;
    return {.least = minimum - (with_zero && minimum > 0 ? 0 : spread),
            .most = maximum + spread,
            .titles = {}};
  }
  const double margin = kMargin * (maximum - minimum);
  ChartAxis axis;
  axis.least = with_zero && minimum == 0 ? 0 : minimum - margin;
  axis.most = with_zero && maximum == 0 ? 0 : maximum + margin;
  return axis;
}

}  // namespace attnscope
