#include "core/figure/bar_chart.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/figure/wrap_text.h"

namespace attnscope {
namespace {

constexpr double kBarTitleSize = 16, kBarLabelSize = 13, kBarNoteSize = 12;
constexpr double kBarMargin = 24, kBarTop = 48, kBarRow = 24, kBarHeight = 14, kBarGap = 8;
constexpr double kMaxLabelShare = 0.45;  // of the width

// Length of bars: 0 for `low`, 1 for `high`.
struct Extent {
  double low = 0, high = 1;
  bool logarithmic = false;
  double fraction(double value) const {
    if (!logarithmic) return (value - low) / (high - low);
    return value > 0 ? std::log(value / low) / std::log(high / low) : 0;
  }
};

Extent extent_of(const BarChart& chart) {
  double least = INFINITY, most = -INFINITY;
  for (const Bar& bar : chart.bars) {
    if (!std::isfinite(bar.value) || (chart.logarithmic && bar.value <= 0)) continue;
    least = std::min(least, bar.value);
    most = std::max(most, bar.value);
  }
  if (!(least <= most)) return {};
  if (chart.logarithmic) return {least / 10, most, true};
  const double low = std::min(0.0, least), high = std::max(0.0, most);
  return {low, high > low ? high : low + 1, false};
}

}  // namespace

DisplayList draw(const BarChart& chart, const Theme& theme, const TextMeasure& measure) {
  DisplayList list;
  list.width = chart.width;
  list.background = theme.background;
  list.items.push_back(
      Text{{kBarMargin, kBarTop / 2}, chart.title, theme.text, kBarTitleSize, Align::Start, 0, true});
  double label_width = 0, value_width = 0;
  for (const Bar& bar : chart.bars) {
    label_width = std::max(label_width, measure.width(bar.label, kBarLabelSize));
    value_width = std::max(value_width, measure.width(brief(bar.value), kBarLabelSize));
  }
  label_width = std::min(label_width, kMaxLabelShare * chart.width);
  const double left = kBarMargin + label_width + kBarGap;
  const double space = chart.width - kBarMargin - value_width - kBarGap - left;
  const Extent extent = extent_of(chart);
  const double zero = left + space * (extent.logarithmic ? 0 : extent.fraction(0));
  double y = kBarTop + kBarRow / 2;
  for (const Bar& bar : chart.bars) {
    std::string label = bar.label;
    while (label.size() > 4 && measure.width(label, kBarLabelSize) > label_width) {
      label = label.substr(0, label.size() - 4) + "…";
    }
    list.items.push_back(Text{{left - kBarGap, y}, label, theme.text, kBarLabelSize, Align::End});
    double end = zero;
    if (std::isfinite(bar.value)) {
      end = left + space * extent.fraction(bar.value);
      const double begin = std::min(zero, end);
      list.items.push_back(FilledBox{
          {begin, y - kBarHeight / 2, std::max(1.0, std::abs(end - zero)), kBarHeight}, theme.accent});
    }
    const std::string value = std::isfinite(bar.value) ? brief(bar.value) : "not measured";
    list.items.push_back(Text{{std::max(zero, end) + kBarGap, y}, value, theme.text, kBarLabelSize});
    y += kBarRow;
  }
  y += kBarGap;
  list.items.push_back(
      Text{{left + space / 2, y}, chart.value_label, theme.faint_text, kBarLabelSize, Align::Middle});
  y += kBarRow;
  for (const std::string& line :
       wrap_text(chart.note, measure, kBarNoteSize, chart.width - 2 * kBarMargin)) {
    list.items.push_back(Text{{kBarMargin, y}, line, theme.faint_text, kBarNoteSize});
    y += kLineHeight * kBarNoteSize;
  }
  list.height = y + kBarGap;
  return list;
}

}  // namespace attnscope
