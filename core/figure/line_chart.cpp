#include "core/figure/line_chart.h"

#include <algorithm>
#include <cmath>

#include "core/figure/render.h"
#include "core/figure/ticks.h"

namespace attnscope {
namespace {

constexpr double kLeft = 66, kRight = 24, kTop = 48, kBottom = 58;  // around the plot
constexpr double kTitleSize = 16, kLabelSize = 13, kTickSize = 12;
constexpr double kTickDistance = 56;  // between ticks, about
constexpr double kTick = 5, kGap = 7;
constexpr double kHeadroom = 0.04;  // above and below the curves, of their range
constexpr double kDot = 6;
constexpr double kSample = 22, kLegendPad = 9;

struct Range {
  double least = 0, most = 1;
  double share(double value) const { return (value - least) / (most - least); }
};

bool finite(Point p) {
  return std::isfinite(p.x) && std::isfinite(p.y);
}

// Of all curves' points; [0, 1] where there is none.
Range range_of(const std::vector<Curve>& curves, double Point::*coordinate, double headroom) {
  Range range{INFINITY, -INFINITY};
  for (const Curve& curve : curves) {
    for (const Point& p : curve.points) {
      if (!finite(p)) continue;
      range.least = std::min(range.least, p.*coordinate);
      range.most = std::max(range.most, p.*coordinate);
    }
  }
  if (!(range.least <= range.most)) return {};
  const double extent = range.most - range.least;
  // Around a single value: some room, so that it lies in the middle.
  const double more = extent > 0 ? headroom * extent : std::max(1.0, std::abs(range.most)) / 10;
  return {range.least - more, range.most + more};
}

// In pixels, at most four points for each column of them (first, lowest, highest, last), so that a
// curve of millions of points is drawn as fast and looks the same.
std::vector<Point> thinned(const std::vector<Point>& points) {
  std::vector<Point> result;
  for (std::size_t i = 0; i < points.size();) {
    const double column = std::floor(points[i].x);
    std::size_t end = i, low = i, high = i;
    for (; end < points.size() && std::floor(points[end].x) == column; ++end) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
    }
    std::size_t last = points.size();
    for (const std::size_t kept : {i, std::min(low, high), std::max(low, high), end - 1}) {
      if (kept != last) result.push_back(points[kept]);
      last = kept;
    }
    i = end;
  }
  return result;
}

class Drawing {
 public:
  Drawing(const LineChart& chart, const Theme& theme)
      : chart_(chart),
        theme_(theme),
        plot_{kLeft, kTop, chart.width - kLeft - kRight, chart.height - kTop - kBottom},
        x_(range_of(chart.curves, &Point::x, 0)),
        y_(range_of(chart.curves, &Point::y, kHeadroom)) {
    list_.width = chart.width;
    list_.height = chart.height;
    list_.background = theme.background;
  }

  DisplayList draw() {
    x_axis();
    y_axis();
    add(OutlinedBox{plot_, theme_.line, 1});
    for (const Curve& curve : chart_.curves) draw_curve(curve);
    legend();
    text({kLeft + plot_.width / 2, kTop / 2}, chart_.title, kTitleSize, Align::Middle, 0, true);
    return std::move(list_);
  }

 private:
  double x_of(double value) const { return plot_.x + x_.share(value) * plot_.width; }
  double y_of(double value) const { return plot_.bottom() - y_.share(value) * plot_.height; }

  template <class Thing>
  void add(Thing thing) {  // built in place: moving an Item confuses gcc 12's warnings
    list_.items.emplace_back(std::in_place_type<Thing>, std::move(thing));
  }

  void text(Point at, const std::string& words, double size, Align align, double angle = 0,
            bool bold = false) {
    add(Text{at, words, theme_.text, size, align, angle, bold});
  }

  void grid_line(Point from, Point to) {
    Colour faint = theme_.line;
    faint.a = 90;
    add(Line{{from, to}, faint, 1});
  }

  void x_axis() {
    const auto count = static_cast<int>(plot_.width / (1.6 * kTickDistance));
    const std::vector<double> ticks = round_ticks(x_.least, x_.most, std::max(2, count));
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : x_.most - x_.least;
    for (const double tick : ticks) {
      const double x = x_of(tick);
      grid_line({x, plot_.y}, {x, plot_.bottom()});
      add(Line{{{x, plot_.bottom()}, {x, plot_.bottom() + kTick}}, theme_.line, 1});
      text({x, plot_.bottom() + kTick + kGap + kTickSize / 2}, tick_text(tick, step), kTickSize,
           Align::Middle);
    }
    text({plot_.x + plot_.width / 2, chart_.height - kLabelSize}, chart_.x_label, kLabelSize,
         Align::Middle);
  }

  void y_axis() {
    const auto count = static_cast<int>(plot_.height / kTickDistance);
    const std::vector<double> ticks = round_ticks(y_.least, y_.most, std::max(2, count));
    const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : y_.most - y_.least;
    for (const double tick : ticks) {
      const double y = y_of(tick);
      grid_line({plot_.x, y}, {plot_.right(), y});
      add(Line{{{plot_.x - kTick, y}, {plot_.x, y}}, theme_.line, 1});
      text({plot_.x - kTick - kGap, y}, tick_text(tick, step), kTickSize, Align::End);
    }
    text({kLabelSize + 2, plot_.y + plot_.height / 2}, chart_.y_label, kLabelSize, Align::Middle,
         90);
  }

  void dot(Point centre, Colour colour) {
    add(FilledBox{{centre.x - kDot / 2, centre.y - kDot / 2, kDot, kDot}, colour, kDot / 2});
  }

  void draw_curve(const Curve& curve) {
    std::vector<Point> points;
    for (const Point& p : curve.points) {
      if (finite(p)) points.push_back({x_of(p.x), y_of(p.y)});
    }
    points = thinned(points);
    if (curve.dots || points.size() == 1) {
      for (const Point& p : points) dot(p, curve.colour);
    }
    if (points.size() > 1) {
      add(Line{std::move(points), curve.colour, curve.thickness});
    }
  }

  // In the corner that falling curves leave free.
  void legend() {
    const double line = kLineHeight * kLabelSize;
    double widest = 0;
    for (const Curve& curve : chart_.curves) {
      widest = std::max(widest, file_text_measure().width(curve.label, kLabelSize));
    }
    const double width = 2 * kLegendPad + kSample + kGap + widest;
    const double height = 2 * kLegendPad + line * static_cast<double>(chart_.curves.size());
    const Box box{plot_.right() - width - kGap, plot_.y + kGap, width, height};
    add(FilledBox{box, theme_.background, 0});
    add(OutlinedBox{box, theme_.line, 1});
    double y = box.y + kLegendPad + line / 2;
    for (const Curve& curve : chart_.curves) {
      const double x = box.x + kLegendPad;
      add(Line{{{x, y}, {x + kSample, y}}, curve.colour, curve.thickness});
      if (curve.dots) dot({x + kSample / 2, y}, curve.colour);
      text({x + kSample + kGap, y}, curve.label, kLabelSize, Align::Start);
      y += line;
    }
  }

  const LineChart& chart_;
  const Theme& theme_;
  Box plot_;
  Range x_, y_;
  DisplayList list_;
};

}  // namespace

DisplayList draw(const LineChart& chart, const Theme& theme) {
  return Drawing(chart, theme).draw();
}

}  // namespace attnscope
