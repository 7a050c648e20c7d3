// Maps of gates by row and token, with bars of the rows' means.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/gates/gate_panels.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/row_bars.h"

namespace attnscope {
namespace {

constexpr double kNumberWidth = 2.5, kNumberHeight = 1.1;  // em: minimum cell size for numbers

ColourRange gate_range(const ViewSettings& view, const GateSets& sets) {
  ColourRange range;
  range.colour_map = view.colour_map;
  if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
  range.most = 0;
  range.least = 1;
  for (const GateSet& set : sets) {
    for (const float value : set.mean) {
      if (std::isnan(value)) continue;
      range.most = std::max(range.most, static_cast<double>(value));
      range.least = std::min(range.least, static_cast<double>(value));
    }
  }
  if (!(range.most > 0)) range.most = 1;
  const bool has_spread = range.most - range.least > 1e-3;
  if (view.colour_end != ColourEnd::Largest || !has_spread) range.least = 0;
  return range;
}

void draw_titles(Page& page, const GateSet& set, const MatrixPlot& m, double bars) {
  const double em = page.em(), x = m.plot.x - m.left;
  const std::string note = set.untrained ? " (untrained)" : "";
  page.add(Text{{x, m.plot.y - m.top - (GateMeasures::title - 0.6) * em},
                page.fitting({set.title + note, set.short_title + note}, em,
                             (m.left + m.plot.width + bars) / 1.08),  // allows for bold text
                page.theme().text,
                em,
                Align::Start,
                0,
                true});
  if (bars == 0) return;
  page.faint_text(
      {x, m.plot.bottom() + 0.9 * em},
      page.fitting({set.closed + " · " + set.open, set.open}, page.small(), m.left + m.plot.width),
      page.small());
}

void draw_numbers(Page& page, const GateSet& set, const MatrixPlot& m, const ColourRange& range) {
  const Box first = m.cell(0, 0);
  if (first.width < kNumberWidth * page.em() || first.height < kNumberHeight * page.em()) return;
  page.add(Clip{m.plot});
  for (Index row = 0; row < set.mean.dim(0); ++row) {
    for (Index i = 0; i < set.mean.dim(1); ++i) {
      const auto value = static_cast<double>(set.mean(row, i));
      const Box box = m.cell(row, i);
      const double x = box.x + box.width / 2;
      if (std::isnan(value) || x < m.plot.x || x > m.plot.right()) continue;
      page.add(Text{{x, box.y + box.height / 2},
                    fixed(value, 2),
                    ink_on(colour_map(range.colour_map).at(range.position(value))),
                    page.small(),
                    Align::Middle});
    }
  }
  page.add(Clip{});
}

// Draws frame and axes (with tokens above the first map only), and outlines marked tokens.
void draw_frame(Page& page, const MatrixPlot& m, Index token) {
  MatrixPlot frame = m;
  frame.pinned_column = -1;
  if (m.columns.count() == 0) frame.hovered_column = -1;
  draw_matrix_frame(page, frame, {});
  page.add(Clip{m.plot});
  for (const Index marked : {m.pinned_column, token}) {
    if (marked < 0) continue;
    const Box first = m.cell(0, marked);
    page.add(OutlinedBox{{first.x, m.plot.y, first.width, m.plot.height},
                         translucent(page.theme().accent, marked == m.hovered_column ? 0.6 : 1),
                         marked == m.pinned_column ? 2.0 : 1.0});
  }
  page.add(Clip{});
}

void draw_means(Page& page, const GateSet& set, const MatrixPlot& m, double width, double range) {
  RowBars bars;
  for (Index row = 0; row < gate_rows(set); ++row) {
    bars.values.push_back(set.row_mean(row));
    bars.numbers.push_back(gate_number(bars.values.back()));
  }
  bars.titles = {"mean"};
  bars.min_range = range;
  const double gap = 0.7 * page.em();
  draw_row_bars(page, {m.plot.right() + gap, m.plot.y, width - gap, m.plot.height}, m, bars);
}

}  // namespace

void draw_gate_maps(Page& page, const GatePlaces& places, Index token) {
  const ColourRange range = gate_range(page.input().session.view, places.sets);
  for (std::size_t n = 0; n < places.sets.size(); ++n) {
    const GateSet& set = places.sets[n];
    const MatrixPlot& m = places.maps[n];
    draw_titles(page, set, m, places.bars);
    HeatMap cells = matrix_cells(m);
    cells.values = set.mean;
    cells.missing = blend(page.theme().background, page.theme().line, 0.35);
    cells.least = range.least;
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page.add(cells);
    draw_numbers(page, set, m, range);
    draw_frame(page, m, token);
    if (places.bars > 0) draw_means(page, set, m, places.bars, range.most);
    // Shorter colour bars have no space for numbers.
    if (m.plot.height >= 3 * page.em()) draw_colour_bar(page, m.right, range, {"gate", ""});
  }
}

}  // namespace attnscope
