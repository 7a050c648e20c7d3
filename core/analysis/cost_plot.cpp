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

std::string unit_text(double number, const auto& units) {
  const auto unit = std::find_if(units.begin(), units.end() - 1,
                                 [&](const Unit& u) { return number >= u.size * (1 - 1e-9); });
  return brief(number / unit->size, 3) + unit->name;
}

// True if the plot shows measured values. Operations are counted, never measured.
bool draws_measured(const CostPlotOptions& options) {
  return options.measured && options.quantity != CostQuantity::Operations;
}
bool draws_formula(const CostPlotOptions& options) {
  return options.formula || options.quantity == CostQuantity::Operations;
}

// Measured memory has no guides: published growth assumes stored scores, but this program stores
// none.
bool draws_guides(const CostPlotOptions& options) {
  return options.guides && (options.quantity != CostQuantity::Bytes || draws_formula(options));
}

Colour series_colour(std::size_t series, const Theme& theme) {
  const ColourMap& map = colour_map(kCategories);
  Colour colour = map.colours[series % map.colours.size()];
  if (!theme.is_dark()) return colour;
  // The palette is designed for white backgrounds.
  const auto lighter = [](std::uint8_t c) { return static_cast<std::uint8_t>(c + (255 - c) / 4); };
  return {lighter(colour.r), lighter(colour.g), lighter(colour.b), colour.a};
}

std::vector<Point> series_points(const CostCurves& curves, const CostSeries& series,
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
std::vector<Point> growth_guide(const Growth& growth, const std::vector<Point>& points,
                                double min_x, double max_x) {
  constexpr int kSteps = 24;
  std::vector<Point> guide;
  const Point last_point = points.back();
  for (int n = 0; n <= kSteps; ++n) {
    const double x = min_x * std::pow(max_x / min_x, static_cast<double>(n) / kSteps);
    guide.push_back({x, last_point.y * growth.at(x) / growth.at(last_point.x)});
  }
  return guide;
}

std::string plot_title(CostQuantity quantity) {
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

std::string y_axis_label(CostQuantity quantity) {
  if (quantity == CostQuantity::Time) return "time";
  return quantity == CostQuantity::Bytes ? "bytes" : "multiply-adds";
}

// Explanation of the plot, in sentences.
std::string describe_plot(const CostCurves& curves, const CostPlotOptions& options) {
  const CostRequest& request = curves.request;
  const std::string heads = request.heads == 1 ? " head of size " : " heads of size ";
  std::string text = std::to_string(request.heads) + heads + std::to_string(request.head_size) +
                     (request.causal ? ", causal where supported." : ".");
  const bool measured = draws_measured(options), formula = draws_formula(options);
  if (measured && options.quantity == CostQuantity::Time) {
    text += " Dots: measured on " + curves.backend + ", median of warm runs.";
  } else if (measured) {
    text += " Dots: measured on " + curves.backend + ", peak allocation.";
  }
  if (formula) {
    text += options.quantity == CostQuantity::Operations
                ? " Counted from the pattern and the method."
            : measured ? " Dashed: "
                       : " Dots: ";
    if (options.quantity == CostQuantity::Time) {
      text += "operations at the speed of full attention.";
    } else if (options.quantity == CostQuantity::Bytes) {
      text += "inputs, outputs and one number per score or its substitute.";
    }
  }
  if (draws_guides(options)) text += " Dotted: published growth, through the longest length.";
  std::string skips;
  for (const CostSeries& series : curves.series) {
    for (const CostPoint& point : series.points) {
      if (point.missing.empty()) continue;
      skips += (skips.empty() ? " Skipped: " : "; ") + series.label + " from " +
               grouped(point.length) + " (" + point.missing + ")";
      break;
    }
  }
  return text + skips + (skips.empty() ? "" : ".") +
         (curves.stopped ? " Stopped before the end." : "");
}

// "Local window", with its parameters if the variant occurs more than once.
std::string curve_label(const CostCurves& curves, std::size_t n) {
  const CostSeries& series = curves.series[n];
  const auto occurrences = std::ranges::count_if(curves.series, [&](const CostSeries& candidate) {
    return candidate.variant.choice.id == series.variant.choice.id;
  });
  const Variant& v = variant(series.variant.choice.id);
  std::string label = series.label;
  if (occurrences > 1) label += " (" + parameters_text(v, series.variant.choice.values) + ")";
  return label + "  " + v.cost.growth.text();
}

}  // namespace

CostQuantity cost_quantity(std::string_view name) {
  for (const CostQuantity quantity :
       {CostQuantity::Time, CostQuantity::Operations, CostQuantity::Bytes}) {
    if (name_of(quantity) == name) return quantity;
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
  if (quantity == CostQuantity::Time) return unit_text(number, kTimes);
  return quantity == CostQuantity::Bytes ? unit_text(number, kBytes) : unit_text(number, kCounts);
}

DisplayList cost_plot(const CostCurves& curves, const CostPlotOptions& options, const Theme& theme,
                      const TextMeasure& measure) {
  LineChart chart;
  chart.title = plot_title(options.quantity);
  chart.x_label = "sequence length (tokens)";
  chart.y_label = y_axis_label(options.quantity);
  chart.width = options.width;
  chart.height = options.height;
  chart.labels_at_ends = true;
  chart.note = describe_plot(curves, options);
  chart.x = {.logarithmic = true, .base = 2, .text = [](double tick) {
               return grouped(std::llround(tick));
             }};
  const bool is_bytes = options.quantity == CostQuantity::Bytes;
  chart.y = {
      .logarithmic = true,
      .base = is_bytes ? 2.0 : 10.0,
      .text = [quantity = options.quantity](double tick) { return cost_text(quantity, tick); }};
  // The axis covers all requested lengths, even while they are being measured.
  double min_length = 0, max_length = 0;
  if (!curves.request.lengths.empty()) {
    min_length = static_cast<double>(curves.request.lengths.front());
    max_length = static_cast<double>(curves.request.lengths.back());
  }
  chart.x.least = min_length;
  chart.x.most = max_length;
  for (std::size_t n = 0; n < curves.series.size(); ++n) {
    const CostSeries& series = curves.series[n];
    const Colour colour = series_colour(n, theme);
    const bool measured = draws_measured(options), formula = draws_formula(options);
    const std::vector<Point> by_formula =
        formula ? series_points(curves, series, options.quantity, false) : std::vector<Point>();
    const std::vector<Point> main_points =
        measured ? series_points(curves, series, options.quantity, true) : by_formula;
    if (main_points.empty()) continue;
    if (draws_guides(options) && max_length > min_length) {
      Colour guide_colour = colour;
      guide_colour.a = 150;
      const Growth& growth = variant(series.variant.choice.id).cost.growth;
      chart.curves.push_back({.label = "",
                              .points = growth_guide(growth, is_bytes ? by_formula : main_points,
                                                     min_length, max_length),
                              .colour = guide_colour,
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
    chart.curves.push_back({.label = curve_label(curves, n),
                            .points = main_points,
                            .colour = colour,
                            .thickness = 2.2,
                            .dots = true});
  }
  return draw(chart, theme, measure);
}

}  // namespace attnscope
