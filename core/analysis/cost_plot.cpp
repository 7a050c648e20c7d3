#include "core/analysis/cost_plot.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/line_chart.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

struct Unit {
  double size;
  const char* name;
};

std::string in_units(double number, const auto& units) {
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [&](const Unit& u) { return number >= u.size * (1 - 1e-9); });
  return brief(number / unit->size, 3) + unit->name;
}

// Values of this quantity that are drawn.
bool draws_measured(const CostPlotOptions& look) {
  return look.measured && look.quantity != CostQuantity::Operations;
}
bool draws_formula(const CostPlotOptions& look) {
  return look.formula || look.quantity == CostQuantity::Operations;
}

// Published growth of memory assumes that scores are stored, which full attention does not do here.
bool draws_guides(const CostPlotOptions& look) {
  return look.guides && (look.quantity != CostQuantity::Bytes || draws_formula(look));
}

Colour colour_of(std::size_t series, const Theme& theme) {
  const ColourMap& map = colour_map(kCategories);
  Colour colour = map.colours[series % map.colours.size()];
  if (!theme.is_dark()) return colour;
  // The palette is designed for white backgrounds.
  const auto lighter = [](std::uint8_t c) { return static_cast<std::uint8_t>(c + (255 - c) / 4); };
  return {lighter(colour.r), lighter(colour.g), lighter(colour.b), colour.a};
}

std::vector<Point> points_of(const CostCurves& curves, const CostSeries& series,
                             CostQuantity quantity, bool measured) {
  std::vector<Point> points;
  for (const CostPoint& point : series.points) {
    const double number = cost_number(curves, point, quantity, measured);
    if (point.missing.empty() && number > 0) {
      points.push_back({static_cast<double>(point.tokens), number});
    }
  }
  return points;
}

// Growth curve from the shortest length to the longest, through the last point; a straight line in
// log-log axes up to logarithmic factors.
std::vector<Point> guide_of(const Growth& growth, const std::vector<Point>& points, double least,
                            double most) {
  constexpr int kSteps = 24;
  std::vector<Point> guide;
  const Point end = points.back();
  for (int n = 0; n <= kSteps; ++n) {
    const double x = least * std::pow(most / least, static_cast<double>(n) / kSteps);
    guide.push_back({x, end.y * growth.at(x) / growth.at(end.x)});
  }
  return guide;
}

std::string title_of(CostQuantity quantity) {
  switch (quantity) {
    case CostQuantity::Time:
      return "Attention time by sequence length";
    case CostQuantity::Operations:
      return "Attention operations by sequence length";
    case CostQuantity::Bytes:
      return "Attention memory by sequence length";
  }
  return "";
}

std::string axis_of(CostQuantity quantity) {
  if (quantity == CostQuantity::Time) return "time";
  return quantity == CostQuantity::Bytes ? "bytes" : "multiply-adds";
}

// Explanation of the plot, in sentences.
std::string note_of(const CostCurves& curves, const CostPlotOptions& look) {
  const CostRequest& request = curves.request;
  const std::string heads = request.heads == 1 ? " head of size " : " heads of size ";
  std::string text = std::to_string(request.heads) + heads + std::to_string(request.head_size) +
                     (request.causal ? ", causal where supported." : ".");
  const bool measured = draws_measured(look), formula = draws_formula(look);
  if (measured && look.quantity == CostQuantity::Time) {
    text += " Dots: measured on " + curves.backend + ", median of warm runs.";
  } else if (measured) {
    text += " Dots: measured on " + curves.backend + ", peak allocation.";
  }
  if (formula) {
    text += look.quantity == CostQuantity::Operations ? " Counted from the pattern and the method."
            : measured                                ? " Dashed: "
                                                      : " Dots: ";
    if (look.quantity == CostQuantity::Time) {
      text += "operations at the speed of full attention.";
    } else if (look.quantity == CostQuantity::Bytes) {
      text += "inputs, outputs and one number per score or its substitute.";
    }
  }
  if (draws_guides(look)) text += " Dotted: published growth, through the longest length.";
  std::string cut;
  for (const CostSeries& series : curves.series) {
    for (const CostPoint& point : series.points) {
      if (point.missing.empty()) continue;
      cut += (cut.empty() ? " Skipped: " : "; ") + series.label + " from " + grouped(point.length) +
             " (" + point.missing + ")";
      break;
    }
  }
  return text + cut + (cut.empty() ? "" : ".") + (curves.stopped ? " Stopped before the end." : "");
}

// "Local window", with its parameters if the variant occurs more than once.
std::string label_of(const CostCurves& curves, std::size_t n) {
  const CostSeries& series = curves.series[n];
  const auto same = std::ranges::count_if(curves.series, [&](const CostSeries& other) {
    return other.variant.choice.id == series.variant.choice.id;
  });
  const Variant& v = variant(series.variant.choice.id);
  std::string label = series.label;
  if (same > 1) label += " (" + parameters_text(v, series.variant.choice.values) + ")";
  return label + "  " + v.cost.growth.text();
}

}  // namespace

CostQuantity cost_quantity(std::string_view name) {
  for (const CostQuantity one :
       {CostQuantity::Time, CostQuantity::Operations, CostQuantity::Bytes}) {
    if (name_of(one) == name) return one;
  }
  throw InputError("quantity: expected time, operations or bytes, found \"" + std::string(name) +
                   "\"");
}

std::string name_of(CostQuantity quantity) {
  if (quantity == CostQuantity::Time) return "time";
  return quantity == CostQuantity::Operations ? "operations" : "bytes";
}

double cost_number(const CostCurves& curves, const CostPoint& point, CostQuantity quantity,
                   bool measured) {
  switch (quantity) {
    case CostQuantity::Time:
      return measured ? point.seconds : seconds_by_formula(curves, point);
    case CostQuantity::Operations:
      return point.operations;
    case CostQuantity::Bytes:
      return measured ? point.peak_bytes : point.bytes;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

std::string cost_text(CostQuantity quantity, double number) {
  constexpr double kKi = 1024;
  static constexpr std::array<Unit, 4> kTimes{
      {{1, " s"}, {1e-3, " ms"}, {1e-6, " µs"}, {1e-9, " ns"}}};
  static constexpr std::array<Unit, 5> kCounts{
      {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}, {1, ""}}};
  static constexpr std::array<Unit, 4> kBytes{
      {{kKi * kKi * kKi, " GiB"}, {kKi * kKi, " MiB"}, {kKi, " KiB"}, {1, " B"}}};
  if (quantity == CostQuantity::Time) return in_units(number, kTimes);
  return quantity == CostQuantity::Bytes ? in_units(number, kBytes) : in_units(number, kCounts);
}

DisplayList cost_plot(const CostCurves& curves, const CostPlotOptions& look, const Theme& theme,
                      const TextMeasure& measure) {
  LineChart chart;
  chart.title = title_of(look.quantity);
  chart.x_label = "sequence length (tokens)";
  chart.y_label = axis_of(look.quantity);
  chart.width = look.width;
  chart.height = look.height;
  chart.labels_at_ends = true;
  chart.note = note_of(curves, look);
  chart.x = {.logarithmic = true, .base = 2, .text = [](double tick) {
               return grouped(std::llround(tick));
             }};
  const bool bytes = look.quantity == CostQuantity::Bytes;
  chart.y = {.logarithmic = true,
             .base = bytes ? 2.0 : 10.0,
             .text = [quantity = look.quantity](double tick) { return cost_text(quantity, tick); }};
  // The axis covers all requested lengths, even while they are being measured.
  double least = 0, most = 0;
  if (!curves.request.lengths.empty()) {
    least = static_cast<double>(curves.request.lengths.front());
    most = static_cast<double>(curves.request.lengths.back());
  }
  chart.x.least = least;
  chart.x.most = most;
  for (std::size_t n = 0; n < curves.series.size(); ++n) {
    const CostSeries& series = curves.series[n];
    const Colour colour = colour_of(n, theme);
    const bool measured = draws_measured(look), formula = draws_formula(look);
    const std::vector<Point> by_formula =
        formula ? points_of(curves, series, look.quantity, false) : std::vector<Point>();
    const std::vector<Point> found =
        measured ? points_of(curves, series, look.quantity, true) : by_formula;
    if (found.empty()) continue;
    if (draws_guides(look) && most > least) {
      Colour faint = colour;
      faint.a = 150;
      const bool kept_scores = look.quantity == CostQuantity::Bytes;
      const Growth& growth = variant(series.variant.choice.id).cost.growth;
      chart.curves.push_back(
          {.label = "",
           .points = guide_of(growth, kept_scores ? by_formula : found, least, most),
           .colour = faint,
           .thickness = 1.2,
           .stroke = LineStroke::Dotted,
           .guides = true});
    }
    if (measured && formula) {
      chart.curves.push_back({.label = "",
                              .points = by_formula,
                              .colour = colour,
                              .thickness = 1.5,
                              .stroke = LineStroke::Dashed});
    }
    chart.curves.push_back({.label = label_of(curves, n),
                            .points = found,
                            .colour = colour,
                            .thickness = 2.2,
                            .dots = true});
  }
  return draw(chart, theme, measure);
}

}  // namespace attnscope
