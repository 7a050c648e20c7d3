#include "core/view/trajectory/walk_places.h"

#include <algorithm>

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

using M = WalkMeasures;

constexpr double kGap = 1.2;      // em between parts
constexpr double kLabels = 1.4;   // em, above the attention
constexpr double kMinGrid = 9;    // em, of a side
constexpr double kMostGrid = 27;  // em
constexpr double kMinChart = 15;  // em wide
constexpr double kMaxChart = 40;  // em
constexpr double kBeside = 17;    // em, minimum height of grid and chart
constexpr double kMaxRow = 1.5;   // em, of a step's attention
constexpr double kMinRow = 0.7;   // em

// Height of a step's row of attention; 0: no space.
double row_height(const Page& page, const Box& inside, double height, const ShownWalk& shown) {
  const double em = page.em(), rows = static_cast<double>(shown.walk.steps());
  const double others = (kBeside + M::title + kLabels + M::words + kGap) * em;
  if (height < others + rows * kMinRow * em || inside.width < 26 * em || shown.tokens() <= 0) {
    return 0;
  }
  return std::clamp((height - others) / rows, kMinRow * em, kMaxRow * em);
}

// Places the chart next to the grid, and the actions below it if there is space.
void place_chart_and_actions(const Page& page, double width, WalkPlaces& p) {
  const double em = page.em(), title = M::title * em;
  const Box& grid = p.grid.box;
  const double bars = 4 * token_bar_height(page, false) + title;
  const bool both = grid.height >= bars + 11 * em;
  const double high = grid.height + title - (both ? bars + 0.6 * em : 0);
  p.chart = {grid.right() + 1.5 * kGap * em, grid.y - title, width, high};
  if (both) p.actions = {p.chart.x, p.chart.bottom() + 0.6 * em, width, bars};
}

void place_attention(const Page& page, const Box& inside, double row, const ShownWalk& shown,
                     WalkPlaces& p) {
  const double em = page.em(), labels = 6 * em;
  p.bar = inside.width > 46 * em ? colour_bar_width(page) + em : 0;
  const double cells =
      std::min(inside.width - labels - p.bar, static_cast<double>(shown.tokens()) * 2.4 * em);
  p.attention = {inside.x + (inside.width - labels - p.bar - cells) / 2 + labels,
                 p.bottom + (kGap + M::title + kLabels) * em, cells,
                 row * static_cast<double>(shown.walk.steps())};
  p.bottom = p.attention.bottom() + M::words * em;
}

}  // namespace

std::optional<WalkPlaces> place_walk(const Page& page, const Box& inside, const ShownWalk& shown) {
  const double em = page.em(), title = M::title * em;
  const double words = 2 * M::line * em + 0.4 * em;
  double height = inside.height - words;
  if (inside.width < kMinGrid * em || height < kMinGrid * em + title) return std::nullopt;
  const double row = row_height(page, inside, height, shown);
  const double attention = row > 0 ? row * static_cast<double>(shown.walk.steps()) +
                                         (M::title + kLabels + M::words + kGap) * em
                                   : 0;
  height -= attention;
  const bool chart = inside.width >= (kMinChart + kGap + kMinGrid) * em;
  const double wide =
      chart ? std::min(0.52 * inside.width, inside.width - (kMinChart + kGap) * em) : inside.width;
  const double side = std::min({height - title, wide, kMostGrid * em});
  const double gap = chart ? 1.5 * kGap * em : 0;
  const double chart_width = chart ? std::min(kMaxChart * em, inside.width - side - gap) : 0;
  const double used = words + title + side + attention;
  WalkPlaces p;
  p.words = {inside.x, inside.y + page.top_margin(inside.height, used), inside.width, words};
  p.grid.box = {inside.x + (inside.width - side - gap - chart_width) / 2, p.words.bottom() + title,
                side, side};
  if (chart) place_chart_and_actions(page, chart_width, p);
  p.bottom = p.grid.box.bottom();
  if (row > 0) place_attention(page, inside, row, shown, p);
  return p;
}

WalkFocus walk_focus(const ViewInput& input, const WalkPlaces& places, const ShownWalk& shown) {
  WalkFocus focus{.row = std::max<Index>(0, shown.steps - 1)};
  if (!input.interaction.pointer) return focus;
  const Point p = *input.interaction.pointer;
  focus.cell = places.grid.at(p);
  const Box& cells = places.attention;
  if (cells.height <= 0 || !cells.contains(p)) return focus;
  const auto share = [](double at, double from, double size, Index count) {
    return std::min(static_cast<Index>((at - from) / size * static_cast<double>(count)), count - 1);
  };
  focus.row = share(p.y, cells.y, cells.height, shown.walk.steps());
  const Index key = share(p.x, cells.x, cells.width, shown.tokens());
  if (key <= kTokensOfStep * focus.row + 1) focus.key = key;
  return focus;
}

}  // namespace attnscope
