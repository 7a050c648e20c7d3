#include "core/view/block/strips.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/figure/plain_text.h"
#include "core/view/mechanism/panel.h"

namespace attnscope {
namespace {

constexpr double kStripRow = 1.5, kStrip = 1.1;  // em: row and its strip
constexpr double kNameGap = 0.6;                 // em
constexpr double kEndNumber = 4.4;               // em: largest number of the colours
constexpr Index kBins = 48;

}  // namespace

Moments moments(const Tensor& numbers) {
  Moments m{.least = std::numeric_limits<double>::infinity(),
            .most = -std::numeric_limits<double>::infinity()};
  double sum = 0, squares = 0, count = 0;
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const auto x = static_cast<double>(number);
    sum += x;
    squares += x * x;
    ++count;
    m.least = std::min(m.least, x);
    m.most = std::max(m.most, x);
  }
  if (count == 0) return {};
  m.mean = sum / count;
  m.rms = std::sqrt(squares / count);
  double deviations = 0;
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const double difference = static_cast<double>(number) - m.mean;
    deviations += difference * difference;
  }
  m.deviation = std::sqrt(deviations / count);
  return m;
}

double strip_height(const Page& page) {
  return kStripRow * page.em();
}

double strip_names_width(const Page& page, const std::vector<std::string>& names) {
  double width = 0;
  for (const std::string& name : names) width = std::max(width, page.width_of(name, page.small()));
  return width + kNameGap * page.em();
}

void draw_number_strip(Page& page, const Box& box, const NumberStrip& strip, double names) {
  const double em = page.em(), middle = box.y + strip_height(page) / 2;
  const std::string end = (strip.range.least < 0 ? "±" : "≤ ") + brief(strip.range.most, 3);
  const double width = box.width - names - kEndNumber * em;
  if (width < 2 * em) return;
  page.text({box.x, middle}, strip.name, page.small());
  draw_panel(page, {box.x + names, middle - kStrip * em / 2, width, kStrip * em}, strip.numbers,
             strip.range);
  page.faint_text({box.x + names + width + 0.4 * em, middle},
                  page.fitting({end}, page.small(), (kEndNumber - 0.4) * em), page.small());
}

void draw_histogram(Page& page, const Box& box, const Tensor& numbers,
                    const std::vector<std::string>& titles) {
  const Moments m = moments(numbers);
  ChartAxis x = padded_axis(m.least, m.most, false);
  x.titles = titles;
  std::vector<double> counts(static_cast<std::size_t>(kBins));
  const double bin = (x.most - x.least) / static_cast<double>(kBins);
  for (const float number : numbers) {
    if (!std::isfinite(number)) continue;
    const auto index = static_cast<Index>((static_cast<double>(number) - x.least) / bin);
    ++counts[static_cast<std::size_t>(std::clamp<Index>(index, 0, kBins - 1))];
  }
  ChartAxis y{.least = 0, .most = 1.05 * std::ranges::max(counts), .titles = {}, .numbers = false};
  const Chart chart = place_chart(page, box, x, y);
  if (chart.empty()) return;
  draw_chart(page, chart);
  page.add(Clip{chart.plot});
  const double low = chart.at_x(m.mean - m.deviation), high = chart.at_x(m.mean + m.deviation);
  page.add(FilledBox{{low, chart.plot.y, std::max(1.0, high - low), chart.plot.height},
                     translucent(page.theme().accent, 0.16)});
  page.add(Clip{});
  for (Index n = 0; n < kBins; ++n) {
    const double count = counts[static_cast<std::size_t>(n)];
    if (count == 0) continue;
    draw_bar(page, chart, x.least + (static_cast<double>(n) + 0.5) * bin, 0.9 * bin, count,
             blend(page.theme().background, page.theme().text, 0.55));
  }
  const double mean = chart.at_x(m.mean);
  page.add(Line{{{mean, chart.plot.y}, {mean, chart.plot.bottom()}}, page.theme().accent, 2});
}

}  // namespace attnscope
