#include "core/view/trajectory/walk_layout.h"

#include <algorithm>

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/token_bars.h"
#include "core/view/parts/tracks.h"

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

// Rows in em: words, grid, attention, and the text below the attention. The last two are omitted if
// space is short. Returns no rows if there is no space.
Tracks choose_rows(const Page& page, const Box& inside, double most_side, const ShownWalk& shown) {
  const double em = page.em(), height = inside.height / em;
  const auto steps = static_cast<double>(shown.walk.steps());
  const Track words{.size = 2 * M::line + 0.4, .gap = M::title};
  Tracks tracks{words,
                {.size = std::min(kBeside - M::title, most_side),
                 .most = most_side,
                 .gap = kGap + M::title + kLabels},
                {.size = kMinRow * steps, .most = kMaxRow * steps, .weight = 1},
                {.size = M::words}};
  if (inside.width >= 26 * em && shown.tokens() > 0 && fit(tracks, height)) return tracks;
  tracks = {words, {.size = kMinGrid, .most = most_side}, {}, {}};
  return fit(tracks, height) ? tracks : Tracks();
}

// Places the chart next to the grid, and the actions below it if there is space.
void place_chart_and_actions(const Page& page, const Box& column, WalkPlaces& places) {
  const double em = page.em(), title = M::title * em, height = places.grid.box.height;
  const double bars = 4 * token_bar_height(page, false) + title;
  const Track actions{.size = height >= bars + 11 * em ? bars : 0};
  Tracks tracks{{.most = Track::kUnlimited, .gap = 0.6 * em}, actions};
  fit(tracks, height + title);
  const std::vector<Box> boxes =
      rows({column.x, places.grid.box.y - title, column.width, 0}, tracks, 1);
  places.chart = boxes[0];
  places.actions = boxes[1];
}

// Centres the attention, with space for labels and colour bar, in its row.
void place_attention(const Page& page, const Box& row, const ShownWalk& shown, WalkPlaces& places) {
  const double em = page.em(), labels = 6 * em;
  places.bar = row.width > 46 * em ? colour_bar_width(page) + em : 0;
  const double space = row.width - labels - places.bar;
  const double cells = std::min(space, static_cast<double>(shown.tokens()) * 2.4 * em);
  places.attention = {row.x + (space - cells) / 2 + labels, row.y, cells, row.height};
}

}  // namespace

std::optional<WalkPlaces> place_walk(const Page& page, const Box& inside, const ShownWalk& shown) {
  const double em = page.em(), wide = inside.width / em;
  if (wide < kMinGrid) return std::nullopt;
  const bool chart = wide >= kMinChart + kGap + kMinGrid;
  const double most_side =
      std::min(chart ? std::min(0.52 * wide, wide - kMinChart - kGap) : wide, kMostGrid);
  const Tracks down = choose_rows(page, inside, most_side, shown);
  if (down.empty()) return std::nullopt;
  const double top = inside.y + page.top_margin(inside.height, extent(down) * em);
  const std::vector<Box> boxes = rows({inside.x, top, inside.width, 0}, down, em);
  const double side = boxes[1].height / em;
  Tracks across{{.size = side, .gap = 1.5 * kGap}, {.most = chart ? kMaxChart : 0}};
  fit(across, wide);
  const double left = inside.x + (wide - extent(across)) / 2 * em;
  const std::vector<Box> panels = columns({left, boxes[1].y, 0, boxes[1].height}, across, em);
  WalkPlaces places;
  places.words = boxes[0];
  places.grid.box = panels[0];
  if (chart) place_chart_and_actions(page, panels[1], places);
  if (boxes[2].height > 0) place_attention(page, boxes[2], shown, places);
  places.bottom = boxes[3].bottom();
  return places;
}

WalkFocus walk_focus(const ViewInput& input, const WalkPlaces& places, const ShownWalk& shown) {
  WalkFocus focus{.row = std::max<Index>(0, shown.steps - 1)};
  if (!input.interaction.pointer) return focus;
  const Point p = *input.interaction.pointer;
  focus.cell = places.grid.at(p);
  const Box& cells = places.attention;
  if (cells.height <= 0 || !cells.contains(p)) return focus;
  const auto index_at = [](double at, double from, double size, Index count) {
    return std::min(static_cast<Index>((at - from) / size * static_cast<double>(count)), count - 1);
  };
  focus.row = index_at(p.y, cells.y, cells.height, shown.walk.steps());
  const Index key = index_at(p.x, cells.x, cells.width, shown.tokens());
  if (key <= kTokensOfStep * focus.row + 1) focus.key = key;
  return focus;
}

}  // namespace attnscope
