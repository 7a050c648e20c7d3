// Chart of the selected gate rows by token.
#include <algorithm>
#include <cmath>

#include "core/view/gates/gate_panels.h"

namespace attnscope {
namespace {

void draw_row(Page& page, const Chart& chart, const GateSet& set, Index row, Colour colour) {
  const double column = chart.plot.width / (chart.x.most - chart.x.least);
  std::vector<Point> points;
  page.add(Clip{chart.plot});
  for (Index i = 0; i < set.mean.dim(1); ++i) {
    const auto mean = static_cast<double>(set.mean(row, i));
    const auto token = static_cast<double>(i);
    points.push_back({token, mean});
    if (!set.deviation.defined() || std::isnan(mean)) continue;
    const auto deviation = static_cast<double>(set.deviation(row, i));
    const double high = chart.at_y(std::min(1.0, mean + deviation));
    const double low = chart.at_y(std::max(0.0, mean - deviation));
    page.add(FilledBox{{chart.at_x(token) - column / 2, high, std::max(column, 1.0), low - high},
                       translucent(colour, 0.22)});
  }
  page.add(Clip{});
  draw_curve(page, chart, points, colour, 2);
  if (column < 0.6 * page.em()) return;
  const double side = 0.36 * page.em();
  for (const Point& p : points) {
    const bool is_visible = p.x >= chart.x.least && p.x <= chart.x.most && !std::isnan(p.y);
    if (!is_visible) continue;
    page.add(FilledBox{
        {chart.at_x(p.x) - side / 2, chart.at_y(p.y) - side / 2, side, side}, colour, side / 2});
  }
}

}  // namespace

GateChart place_gate_chart(const Page& page, const GatePlaces& places) {
  GateChart placed;
  if (places.chart_height == 0) return placed;
  for (std::size_t n = 0; n < places.sets.size(); ++n) {
    const GateSet& set = places.sets[n];
    const auto row = static_cast<std::size_t>(places.shown_row(page.input(), n));
    const std::string label = set.rows[row].label();
    placed.entries.push_back({head_colour(static_cast<Index>(n)),
                              set.short_title + (label.empty() ? "" : ", " + label)});
  }
  const MatrixPlot& m = places.maps.front();
  placed.legend = legend_height(page, placed.entries, places.width() + places.bars);
  const double above = GateMeasures::line * page.em() + placed.legend;
  placed.chart = place_chart(
      page, {places.left(), places.bottom + above, places.width(), places.chart_height - above},
      {.least = m.column - 0.5,
       .most = m.column + m.width - 0.5,
       .titles = {"token number", ""},
       .whole = true},
      places.gate_axis, m.left, 0);
  return placed;
}

void draw_gate_chart(Page& page, const GatePlaces& places, const GateChart& placed) {
  const double em = page.em(), width = places.width() + places.bars;
  const bool has_deviation =
      std::ranges::any_of(places.sets, [](const GateSet& set) { return set.deviation.defined(); });
  const std::string title = "By token";
  const std::string explanation = ": mean over " + std::to_string(places.sets.front().components) +
                                  " components ± one deviation";
  page.add(Text{{places.left(), places.bottom + 0.7 * em},
                page.fitting({title + (has_deviation ? explanation : ""), title}, em, width / 1.08),
                page.theme().text,
                em,
                Align::Start,
                0,
                true});
  draw_legend(page, placed.entries,
              {places.left(), places.bottom + GateMeasures::line * em, width, placed.legend});
  if (placed.chart.empty()) return;
  draw_chart(page, placed.chart);
  for (std::size_t n = 0; n < places.sets.size(); ++n) {
    draw_row(page, placed.chart, places.sets[n], places.shown_row(page.input(), n),
             head_colour(static_cast<Index>(n)));
  }
}

}  // namespace attnscope
