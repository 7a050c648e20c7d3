#include "core/study/study_picture.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/figure/bar_chart.h"
#include "core/figure/colour_map.h"
#include "core/figure/line_chart.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

// Mean of the values that share a place.
struct Mean {
  double sum = 0, count = 0;
  void add(double value) {
    sum += value;
    count += 1;
  }
  double value() const { return sum / count; }
};

// Values in the order in which their labels first appear.
template <class T>
using InOrder = std::vector<std::pair<std::string, T>>;

template <class T>
T& entry(InOrder<T>& list, const std::string& label) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.first == label; });
  if (found != list.end()) return found->second;
  return list.emplace_back(label, T()).second;
}

const double* number_in(const StudyRow& row, const std::string& column) {
  const auto found = row.numbers.find(column);
  return found != row.numbers.end() && std::isfinite(found->second) ? &found->second : nullptr;
}

std::string word_in(const StudyRow& row, const std::string& column) {
  const auto found = row.words.find(column);
  return found == row.words.end() ? std::string() : found->second;
}

std::string note_of(const Study& study, const StudyRows& rows) {
  if (study.claim.empty()) return study.comparisons.empty() ? "" : conclusion(study, rows);
  return "Claim (" + study.source + "): " + study.claim + " " + conclusion(study, rows);
}

DisplayList draw_curves(const Study& study, const StudyRows& rows, double width, double height,
                        const Theme& theme, const TextMeasure& measure) {
  const StudyFigure& figure = study.figure;
  InOrder<std::map<double, Mean>> curves;
  bool is_whole = true;
  for (const StudyRow& row : rows) {
    const double *x = number_in(row, figure.x), *y = number_in(row, figure.y);
    if (x == nullptr || y == nullptr) continue;
    entry(curves, word_in(row, figure.curves))[*x].add(*y);
    is_whole = is_whole && *x == std::round(*x);
  }
  LineChart chart;
  chart.title = study.title;
  chart.x_label = figure.x_label;
  chart.y_label = figure.y_label;
  chart.width = width;
  chart.height = height;
  chart.labels_at_ends = true;
  chart.note = note_of(study, rows);
  chart.x.logarithmic = figure.x_base > 0;
  if (figure.x_base > 0) chart.x.base = figure.x_base;
  if (is_whole) {  // numbers of tokens, heads or layers have no fractions
    chart.x.text = [](double tick) {
      return tick == std::round(tick) ? grouped(std::llround(tick)) : std::string();
    };
  }
  chart.y.logarithmic = figure.y_logarithmic;
  const auto& colours = colour_map(kCategories).colours;
  for (std::size_t n = 0; n < curves.size(); ++n) {
    Curve curve{.label = curves[n].first,
                .points = {},
                .colour = colours[n % colours.size()],
                .thickness = 2.2,
                .dots = curves[n].second.size() <= 30,
                .stroke = n < colours.size() ? LineStroke::Solid : LineStroke::Dashed};
    for (const auto& [x, mean] : curves[n].second) curve.points.push_back({x, mean.value()});
    chart.curves.push_back(std::move(curve));
  }
  return draw(chart, theme, measure);
}

DisplayList draw_bars(const Study& study, const StudyRows& rows, double width, const Theme& theme,
                      const TextMeasure& measure) {
  InOrder<Mean> means;
  for (const StudyRow& row : rows) {
    const double* y = number_in(row, study.figure.y);
    if (y == nullptr) continue;
    std::string label;
    for (const StudyParameter& parameter : study.parameters) {
      label += (label.empty() ? "" : ", ") + word_in(row, parameter.name);
    }
    entry(means, label).add(*y);
  }
  BarChart chart{.title = study.title,
                 .value_label = study.figure.y_label,
                 .bars = {},
                 .width = width,
                 .logarithmic = study.figure.y_logarithmic,
                 .note = note_of(study, rows)};
  for (const auto& [label, mean] : means) chart.bars.push_back({label, mean.value()});
  return draw(chart, theme, measure);
}

}  // namespace

DisplayList study_picture(const Study& study, const StudyRows& rows, double width, double height,
                          const Theme& theme, const TextMeasure& measure) {
  if (study.figure.x.empty()) return draw_bars(study, rows, width, theme, measure);
  return draw_curves(study, rows, width, height, theme, measure);
}

}  // namespace attnscope
