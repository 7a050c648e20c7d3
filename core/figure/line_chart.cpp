#include "core/figure/line_chart.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/figure/render.h"
#include "core/figure/ticks.h"
#include "core/figure/wrap_text.h"

namespace attnscope {
namespace {

constexpr double kLeft = 66, kRight = 24, kTop = 48, kBottom = 58;  // margins around the plot
constexpr double kTitleSize = 16, kLabelSize = 13, kTickSize = 12, kNoteSize = 12;
constexpr double kTickDistance = 56;  // approximate distance between ticks
constexpr double kTick = 5, kGap = 7;
constexpr double kHeadroom = 0.04;  // margin above and below the curves, relative to their range
constexpr double kDot = 6;
constexpr double kSample = 22, kLegendPad = 9;
constexpr double kLeader = 14;  // length of the line from a curve's end to its label

// True if both coordinates of a point can be drawn on their axes.
bool is_placeable(const LineChart& chart, Point p) {
  return std::isfinite(p.x) && std::isfinite(p.y) && (p.x > 0 || !chart.x.logarithmic) &&
         (p.y > 0 || !chart.y.logarithmic);
}

// Linear or logarithmic scale of an axis.
class Scale {
 public:
  Scale() = default;
  // Range of the points of all curves except guides; [0, 1] if there are no points.
  Scale(const LineChart& chart, double Point::*coordinate, double headroom,
        const LineChartAxis& axis)
      : axis_(&axis) {
    double minimum = INFINITY, maximum = -INFINITY;
    for (const Curve& curve : chart.curves) {
      for (const Point& p : curve.points) {
        if (curve.guides || !is_placeable(chart, p)) continue;
        minimum = std::min(minimum, transform(p.*coordinate));
        maximum = std::max(maximum, transform(p.*coordinate));
      }
    }
    if (axis.least < axis.most) {
      minimum = std::min(minimum, transform(axis.least));
      maximum = std::max(maximum, transform(axis.most));
    }
    if (!(minimum <= maximum)) return;
    const double extent = maximum - minimum;
    // A single value is centred with some margin.
    const double margin = extent > 0 ? headroom * extent : std::max(1.0, std::abs(maximum)) / 10;
    min_ = minimum - margin;
    max_ = maximum + margin;
  }

  // Ends of a linear axis.
  double least() const { return min_; }
  double most() const { return max_; }
  double fraction(double value) const { return (transform(value) - min_) / (max_ - min_); }

  struct Ticks {
    std::vector<double> values;
    double step;
  };
  Ticks ticks(int count) const {
    if (is_logarithmic()) return {powers(count), 0};
    Ticks ticks{round_ticks(min_, max_, std::max(2, count)), max_ - min_};
    if (ticks.values.size() > 1) ticks.step = ticks.values[1] - ticks.values[0];
    return ticks;
  }
  std::string tick_label(double tick, double step) const {
    if (axis_ != nullptr && axis_->text) return axis_->text(tick);
    return is_logarithmic() ? brief(tick, 3) : tick_text(tick, step);
  }

 private:
  bool is_logarithmic() const { return axis_ != nullptr && axis_->logarithmic; }
  double transform(double value) const { return is_logarithmic() ? std::log(value) : value; }

  // Powers of the base, every n-th if there are many; with factors 2 and 5 between powers of ten if
  // there are few.
  std::vector<double> powers(int count) const {
    constexpr double kSlack = 1e-9;
    const double unit = std::log(axis_->base);
    const auto first = static_cast<int>(std::ceil(min_ / unit - kSlack));
    const auto last = static_cast<int>(std::floor(max_ / unit + kSlack));
    const int step = std::max(1, (last - first) / std::max(1, count) + 1);
    std::vector<double> ticks;
    const auto add = [&](double value) {
      const double position = std::log(value);
      if (position >= min_ - kSlack && position <= max_ + kSlack) ticks.push_back(value);
    };
    const bool has_factors = axis_->base == 10 && 3 * (last - first + 1) <= count;
    for (int n = first - 1; n <= last; ++n) {
      const double power = std::pow(axis_->base, n);
      if (n >= first && (n - first) % step == 0) add(power);
      if (!has_factors) continue;
      add(2 * power);
      add(5 * power);
    }
    return ticks;
  }

  const LineChartAxis* axis_ = nullptr;
  double min_ = 0, max_ = 1;
};

// Reduces a curve in pixels to at most four points per pixel column (first, lowest, highest, last),
// so that a curve of millions of points is drawn fast and looks the same.
std::vector<Point> thin_out(const std::vector<Point>& points) {
  std::vector<Point> result;
  for (std::size_t i = 0; i < points.size();) {
    const double column = std::floor(points[i].x);
    std::size_t end = i, low = i, high = i;
    for (; end < points.size() && std::floor(points[end].x) == column; ++end) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
    }
    std::size_t last = points.size();
    for (const std::size_t index : {i, std::min(low, high), std::max(low, high), end - 1}) {
      if (index != last) result.push_back(points[index]);
      last = index;
    }
    i = end;
  }
  return result;
}

// Splits a polyline into dashes and gaps of these lengths in pixels. Returns the dashes.
std::vector<std::vector<Point>> dashes(const std::vector<Point>& points, double dash, double gap) {
  std::vector<std::vector<Point>> pieces;
  double remaining = dash;
  bool is_dash = true;
  if (!points.empty()) pieces.push_back({points.front()});
  for (std::size_t i = 1; i < points.size(); ++i) {
    Point position = points[i - 1];
    double length = std::hypot(points[i].x - position.x, points[i].y - position.y);
    while (length > remaining) {
      position = {position.x + (points[i].x - position.x) * remaining / length,
                  position.y + (points[i].y - position.y) * remaining / length};
      length -= remaining;
      if (is_dash) pieces.back().push_back(position);
      is_dash = !is_dash;
      remaining = is_dash ? dash : gap;
      if (is_dash) pieces.push_back({position});
    }
    remaining -= length;
    if (is_dash) pieces.back().push_back(points[i]);
  }
  return pieces;
}

class Drawing {
 public:
  Drawing(const LineChart& chart, const Theme& theme, const TextMeasure& measure)
      : chart_(chart),
        theme_(theme),
        measure_(measure),
        note_(wrap_text(chart.note, measure, kNoteSize, chart.width - 2 * kRight)),
        plot_{kLeft, kTop, chart.width - kLeft - right_margin(chart),
              chart.height - kTop - kBottom},
        x_(chart, &Point::x, 0, chart.x),
        y_(chart, &Point::y, kHeadroom, chart.y) {
    plot_.height -= note_height();
    const double left = plot_left();
    plot_.width -= left - plot_.x;
    plot_.x = left;
    list_.width = chart.width;
    list_.height = chart.height;
    list_.background = theme.background;
  }

  LineChartPlot plot() const { return {plot_, x_.least(), x_.most()}; }

  DisplayList draw() {
    draw_x_axis();
    draw_y_axis();
    add(OutlinedBox{plot_, theme_.line, 1});
    const Box dot_area{plot_.x - kDot, plot_.y - kDot, plot_.width + 2 * kDot,
                       plot_.height + 2 * kDot};
    for (const Curve& curve : chart_.curves) {
      add(Clip{curve.guides ? plot_ : dot_area});
      draw_curve(curve);
      add(Clip{});
    }
    if (chart_.labels_at_ends) {
      draw_labels_at_ends();
    } else {
      draw_legend();
    }
    draw_note();
    draw_title();
    return std::move(list_);
  }

 private:
  double x_of(double value) const { return plot_.x + x_.fraction(value) * plot_.width; }
  double y_of(double value) const { return plot_.bottom() - y_.fraction(value) * plot_.height; }

  template <class Primitive>
  void add(Primitive primitive) {  // in place: moving an Item causes false warnings of gcc 12
    list_.items.emplace_back(std::in_place_type<Primitive>, std::move(primitive));
  }

  void text(Point anchor, const std::string& content, double size, Align align, double angle = 0,
            bool bold = false) {
    add(Text{anchor, content, theme_.text, size, align, angle, bold});
  }

  // Draws the title above the middle of the plot, or as near to it as the width of the title
  // allows. Shortens a title that is wider than the chart.
  void draw_title() {
    const double max_width = list_.width - 2 * kRight;
    std::string title = chart_.title;
    const auto width = [&] { return measure_.width(title, kTitleSize, true); };
    if (width() > max_width) {
      std::string shortened = title;
      while (!shortened.empty() && width() > max_width) {
        while (shortened.size() > 1 &&
               (static_cast<unsigned char>(shortened.back()) & 0xC0) == 0x80) {
          shortened.pop_back();  // further bytes of a UTF-8 character
        }
        shortened.pop_back();
        title = shortened + "…";
      }
    }
    const double half = width() / 2, left = kRight + half, right = list_.width - kRight - half;
    const double x = std::max(left, std::min(right, plot_.x + plot_.width / 2));
    text({x, kTop / 2}, title, kTitleSize, Align::Middle, 0, true);
  }

  void draw_grid_line(Point from, Point to) {
    Colour faint = theme_.line;
    faint.a = 90;
    add(Line{{from, to}, faint, 1});
  }

  double note_height() const {
    if (note_.empty()) return 0;
    return (static_cast<double>(note_.size()) * kLineHeight + 0.5) * kNoteSize;
  }

  void draw_note() {
    double y = chart_.height - note_height() + 0.5 * kLineHeight * kNoteSize - kGap / 2;
    for (const std::string& line : note_) {
      add(Text{{kRight, y}, line, theme_.faint_text, kNoteSize});
      y += kLineHeight * kNoteSize;
    }
  }

  // Width of the margin to the right of the plot.
  double right_margin(const LineChart& chart) const {
    if (!chart.labels_at_ends) return kRight;
    double widest = 0;
    for (const Curve& curve : chart.curves) {
      widest = std::max(widest, measure_.width(curve.label, kLabelSize));
    }
    return kGap + kLeader + kGap + widest + kRight / 2;
  }

  // Places labels as close to their curves' ends as possible without overlap.
  void draw_labels_at_ends() {
    struct Label {
      const Curve* curve;
      double x, end_y, label_y;
    };
    std::vector<Label> labels;
    for (const Curve& curve : chart_.curves) {
      const auto last = std::find_if(curve.points.rbegin(), curve.points.rend(),
                                     [&](Point p) { return is_drawn(p); });
      if (curve.label.empty() || last == curve.points.rend()) continue;
      labels.push_back({&curve, x_of(last->x), y_of(last->y), y_of(last->y)});
    }
    std::ranges::stable_sort(labels, {}, &Label::end_y);
    const double line_height = kLineHeight * kLabelSize;
    double min_y = plot_.y + line_height / 2;
    for (Label& label : labels) {  // from the top down, then from the bottom up
      label.label_y = std::max(label.label_y, min_y);
      min_y = label.label_y + line_height;
    }
    double max_y = plot_.bottom() - line_height / 2;
    for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
      label->label_y = std::min(label->label_y, max_y);
      max_y = label->label_y - line_height;
    }
    const double x = plot_.right() + kGap;
    for (const Label& label : labels) {
      if (label.x < plot_.right() - kGap) {  // leader from a curve that ends early
        Colour faint = label.curve->colour;
        faint.a = 70;
        add(Line{{{label.x, label.end_y}, {x, label.end_y}}, faint, 1});
      }
      add(Line{{{x, label.end_y}, {x + kLeader, label.label_y}}, label.curve->colour, 1});
      text({x + kLeader + kGap, label.label_y}, label.curve->label, kLabelSize, Align::Start);
    }
  }

  bool is_drawn(Point p) const { return is_placeable(chart_, p); }

  void draw_x_axis() {
    const auto count = static_cast<int>(plot_.width / (1.6 * kTickDistance));
    const auto [ticks, step] = x_.ticks(count);
    for (const double tick : ticks) {
      const double x = x_of(tick);
      draw_grid_line({x, plot_.y}, {x, plot_.bottom()});
      add(Line{{{x, plot_.bottom()}, {x, plot_.bottom() + kTick}}, theme_.line, 1});
      text({x, plot_.bottom() + kTick + kGap + kTickSize / 2}, x_.tick_label(tick, step), kTickSize,
           Align::Middle);
    }
    text({plot_.x + plot_.width / 2, chart_.height - note_height() - kLabelSize}, chart_.x_label,
         kLabelSize, Align::Middle);
  }

  Scale::Ticks y_ticks() const { return y_.ticks(static_cast<int>(plot_.height / kTickDistance)); }

  // Left edge of the plot, with space for the axis label and the widest tick label.
  double plot_left() const {
    const auto [ticks, step] = y_ticks();
    double widest = 0;
    for (const double tick : ticks) {
      widest = std::max(widest, measure_.width(y_.tick_label(tick, step), kTickSize));
    }
    return std::max(kLeft, 2 * kLabelSize + kGap + widest + kGap + kTick);
  }

  void draw_y_axis() {
    const auto [ticks, step] = y_ticks();
    for (const double tick : ticks) {
      const double y = y_of(tick);
      draw_grid_line({plot_.x, y}, {plot_.right(), y});
      add(Line{{{plot_.x - kTick, y}, {plot_.x, y}}, theme_.line, 1});
      text({plot_.x - kTick - kGap, y}, y_.tick_label(tick, step), kTickSize, Align::End);
    }
    text({kLabelSize + 2, plot_.y + plot_.height / 2}, chart_.y_label, kLabelSize, Align::Middle,
         90);
  }

  void draw_dot(Point centre, Colour colour) {
    add(FilledBox{{centre.x - kDot / 2, centre.y - kDot / 2, kDot, kDot}, colour, kDot / 2});
  }

  void draw_curve(const Curve& curve) {
    std::vector<Point> points;
    for (const Point& p : curve.points) {
      if (is_drawn(p)) points.push_back({x_of(p.x), y_of(p.y)});
    }
    points = thin_out(points);
    if (curve.dots || points.size() == 1) {
      for (const Point& p : points) draw_dot(p, curve.colour);
    }
    if (points.size() > 1) draw_line(std::move(points), curve);
  }

  // Draws a line of at least two points, in pixels, in the curve's style.
  void draw_line(std::vector<Point> points, const Curve& curve) {
    if (curve.stroke == LineStroke::Solid) {
      add(Line{std::move(points), curve.colour, curve.thickness});
      return;
    }
    const bool is_dashed = curve.stroke == LineStroke::Dashed;
    for (std::vector<Point>& piece : dashes(points, is_dashed ? 8 : 1.5, is_dashed ? 5 : 3.5)) {
      if (piece.size() > 1) add(Line{std::move(piece), curve.colour, curve.thickness});
    }
  }

  // Draws the legend in the top right corner, which decreasing curves do not cross.
  void draw_legend() {
    const double line = kLineHeight * kLabelSize;
    double widest = 0;
    double entries = 0;
    for (const Curve& curve : chart_.curves) {
      if (curve.label.empty()) continue;
      ++entries;
      widest = std::max(widest, measure_.width(curve.label, kLabelSize));
    }
    if (entries == 0) return;
    const double width = 2 * kLegendPad + kSample + kGap + widest;
    const double height = 2 * kLegendPad + line * entries;
    const Box box{plot_.right() - width - kGap, plot_.y + kGap, width, height};
    add(FilledBox{box, theme_.background, 0});
    add(OutlinedBox{box, theme_.line, 1});
    double y = box.y + kLegendPad + line / 2;
    for (const Curve& curve : chart_.curves) {
      if (curve.label.empty()) continue;
      const double x = box.x + kLegendPad;
      draw_line({{x, y}, {x + kSample, y}}, curve);
      if (curve.dots) draw_dot({x + kSample / 2, y}, curve.colour);
      text({x + kSample + kGap, y}, curve.label, kLabelSize, Align::Start);
      y += line;
    }
  }

  const LineChart& chart_;
  const Theme& theme_;
  const TextMeasure& measure_;
  std::vector<std::string> note_;  // wrapped lines
  Box plot_;
  Scale x_, y_;
  DisplayList list_;
};

}  // namespace

LineChartPlot plot_of(const LineChart& chart, const TextMeasure& measure) {
  return Drawing(chart, Theme::light(), measure).plot();
}

DisplayList draw(const LineChart& chart, const Theme& theme) {
  return draw(chart, theme, file_text_measure());
}

DisplayList draw(const LineChart& chart, const Theme& theme, const TextMeasure& measure) {
  return Drawing(chart, theme, measure).draw();
}

}  // namespace attnscope
