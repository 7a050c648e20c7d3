#include "core/training/extrapolation_figure.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/figure/colour_map.h"
#include "core/figure/line_chart.h"
#include "core/figure/plain_text.h"
#include "core/figure/text_table.h"

namespace attnscope {
namespace {

std::set<Index> trained_lengths(const LengthCurves& curves) {
  std::set<Index> lengths;
  for (const LengthSeries& series : curves.series) lengths.insert(series.trained_length);
  return lengths;
}

// "twin-alibi, ALiBi": the model with the short name of its encoding.
std::string curve_label(const LengthSeries& series) {
  const std::string encoding = series.position.substr(0, series.position.find(','));
  return series.model + ", " + (series.kind == PositionKind::None ? "no positions" : encoding);
}

// Explanation of the picture, in sentences.
std::string describe_picture(const LengthCurves& curves) {
  std::string text = "Texts of " + grouped(std::llround(curves.bytes)) +
                     " bytes, in windows that overlap by half; lower is better.";
  const auto has = [&](PositionKind kind) {
    return std::ranges::any_of(curves.series, [&](const auto& s) { return s.kind == kind; });
  };
  if (has(PositionKind::Absolute)) text += " Dashed: absolute positions.";
  if (has(PositionKind::Relative)) text += " Solid: relative positions.";
  std::string lengths;
  for (const Index length : trained_lengths(curves)) {
    lengths += (lengths.empty() ? "" : ", ") + grouped(length);
  }
  if (!lengths.empty()) text += " Dotted: length of training (" + lengths + " tokens).";
  return text + (curves.stopped ? " Stopped before the end." : "");
}

// Vertical lines at the lengths of training, beyond the range of all points.
std::vector<Curve> trained_length_guides(const LengthCurves& curves, Colour colour) {
  double least = INFINITY, most = -INFINITY;
  for (const LengthSeries& series : curves.series) {
    for (const LengthPoint& point : series.points) {
      if (!std::isfinite(point.bits_per_byte)) continue;
      least = std::min(least, point.bits_per_byte);
      most = std::max(most, point.bits_per_byte);
    }
  }
  std::vector<Curve> guides;
  if (!(least <= most)) return guides;
  const double beyond = most > least ? most - least : std::max(1.0, most);
  for (const Index length : trained_lengths(curves)) {
    const auto x = static_cast<double>(length);
    guides.push_back({.label = "",
                      .points = {{x, least - beyond}, {x, most + beyond}},
                      .colour = colour,
                      .thickness = 1.6,
                      .stroke = LineStroke::Dotted,
                      .guides = true});
  }
  return guides;
}

}  // namespace

DisplayList extrapolation_picture(const LengthCurves& curves, double width, double height,
                                  const Theme& theme, const TextMeasure& measure) {
  LineChart chart;
  chart.title = "Bits per byte by window length";
  chart.x_label = "window length (tokens)";
  chart.y_label = "bits per byte";
  chart.width = width;
  chart.height = height;
  chart.labels_at_ends = true;
  chart.note = describe_picture(curves);
  chart.x = {.logarithmic = true, .base = 2, .text = [](double tick) {
               return grouped(std::llround(tick));
             }};
  if (!curves.lengths.empty()) {
    chart.x.least = static_cast<double>(curves.lengths.front());
    chart.x.most = static_cast<double>(curves.lengths.back());
  }
  chart.curves = trained_length_guides(curves, theme.faint_text);
  const auto& colours = colour_map(kCategories).colours;
  for (std::size_t n = 0; n < curves.series.size(); ++n) {
    const LengthSeries& series = curves.series[n];
    Curve curve{
        .label = curve_label(series),
        .points = {},
        .colour = colours[n % colours.size()],
        .thickness = 2.2,
        .dots = true,
        .stroke = series.kind == PositionKind::Absolute ? LineStroke::Dashed : LineStroke::Solid};
    for (const LengthPoint& point : series.points) {
      if (!std::isfinite(point.bits_per_byte)) continue;
      curve.points.push_back({static_cast<double>(point.length), point.bits_per_byte});
    }
    chart.curves.push_back(std::move(curve));
  }
  return draw(chart, theme, measure);
}

std::string to_csv(const LengthCurves& curves) {
  std::string csv = "model,position,kind,trained_length,length,bits_per_byte,loss,note\n";
  const auto number = [](double x) { return std::isfinite(x) ? fixed(x, 6) : std::string(); };
  for (const LengthSeries& series : curves.series) {
    for (const LengthPoint& point : series.points) {
      csv += csv_field(series.model) + "," + csv_field(series.position) + "," +
             name_of(series.kind) + "," + std::to_string(series.trained_length) + "," +
             std::to_string(point.length) + "," + number(point.bits_per_byte) + "," +
             number(point.loss) + "," + csv_field(point.missing) + "\n";
    }
  }
  return csv;
}

Json to_json(const LengthCurves& curves) {
  Json models = Json::array();
  for (const LengthSeries& series : curves.series) {
    Json points = Json::array();
    for (const LengthPoint& point : series.points) {
      Json entry{{"length", point.length}};
      if (point.missing.empty()) {
        entry["bits_per_byte"] = point.bits_per_byte;
        entry["loss"] = point.loss;
      } else {
        entry["missing"] = point.missing;
      }
      points.push_back(std::move(entry));
    }
    models.push_back({{"model", series.model},
                      {"position", series.position},
                      {"kind", name_of(series.kind)},
                      {"trained_length", series.trained_length},
                      {"points", std::move(points)}});
  }
  return {{"bytes", curves.bytes}, {"models", std::move(models)}};
}

std::string to_table(const LengthCurves& curves) {
  constexpr std::size_t kLength = 8, kNumber = 9;
  std::string table = right_aligned("length", kLength);
  std::vector<std::size_t> widths;
  for (const LengthSeries& series : curves.series) {
    widths.push_back(std::max(kNumber, series.model.size() + 2));
    table += right_aligned(series.model, widths.back());
  }
  table += "   (bits per byte; *: longer than in training)\n";
  for (std::size_t row = 0; row < curves.lengths.size(); ++row) {
    const Index length = curves.lengths[row];
    table += right_aligned(std::to_string(length), kLength);
    for (std::size_t n = 0; n < curves.series.size(); ++n) {
      const LengthSeries& series = curves.series[n];
      const bool is_known =
          row < series.points.size() && std::isfinite(series.points[row].bits_per_byte);
      const std::string mark = length > series.trained_length ? "*" : " ";
      table += right_aligned(is_known ? fixed(series.points[row].bits_per_byte, 4) + mark : "- ",
                             widths[n]);
    }
    table += "\n";
  }
  return table;
}

}  // namespace attnscope
