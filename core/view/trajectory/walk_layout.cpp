#include "core/view/trajectory/walk_layout.h"

#include <algorithm>

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/token_bars.h"
#include "core/view/parts/tracks.h"

namespace attnscope {
namespace {

using M = WalkMeasures;

constexpr double kGap = 1.2;      // em between parts
constexpr double kLabels = 1.4;   // em: labels above the attention
constexpr double kMinGrid = 9;    // em: side
constexpr double kMaxGrid = 27;   // em
constexpr double kMinChart = 15;  // em: width
constexpr double kMaxChart = 40;  // em
constexpr double kGridRow = 17;   // em: height of grid and chart that leaves space for attention
constexpr double kMaxRow = 1.5;   // em: height of a step's row of attention
constexpr double kMinRow = 0.7;   // em

// Rows in em: summary, grid, attention, and the text below the attention. The last two are omitted
// if space is short. Returns no rows if summary and grid do not fit.
Tracks choose_rows(const Page& page, const Box& inside, double max_side, const WalkPart& part) {
  const double em = page.em(), height = inside.height / em;
  const auto steps = static_cast<double>(part.walk.steps());
  const Track summary{.size = 2 * M::line + 0.4, .gap = M::title};
  Tracks tracks{summary,
                {.size = std::min(kGridRow - M::title, max_side),
                 .most = max_side,
                 .gap = kGap + M::title + kLabels},
                {.size = kMinRow * steps, .most = kMaxRow * steps, .weight = 1},
                {.size = M::words}};
  if (inside.width >= 26 * em && part.tokens() > 0 && fit(tracks, height)) return tracks;
  tracks = {summary, {.size = kMinGrid, .most = max_side}, {}, {}};
  return fit(tracks, height) ? tracks : Tracks();
}

// Places the chart next to the grid, and the actions below the chart if there is space.
void place_chart_and_actions(const Page& page, const Box& column, WalkPlaces& places) {
  const double em = page.em(), title_height = M::title * em, height = places.grid.box.height;
  const double actions_height = 4 * token_bar_height(page, false) + title_height;
  const Track actions{.size = height >= actions_height + 11 * em ? actions_height : 0};
  Tracks tracks{{.most = Track::kUnlimited, .gap = 0.6 * em}, actions};
  fit(tracks, height + title_height);
  const std::vector<Box> boxes =
      rows({column.x, places.grid.box.y - title_height, column.width, 0}, tracks, 1);
  places.chart = boxes[0];
  places.actions = boxes[1];
}

// Centres the attention, with space for labels and colour bar, in its row.
void place_attention(const Page& page, const Box& row, const WalkPart& part, WalkPlaces& places) {
  const double em = page.em(), labels = 6 * em;
  places.bar = row.width > 46 * em ? colour_bar_width(page) + em : 0;
  const double space = row.width - labels - places.bar;
  const double cells = std::min(space, static_cast<double>(part.tokens()) * 2.4 * em);
  places.attention = {row.x + (space - cells) / 2 + labels, row.y, cells, row.height};
}

}  // namespace

std::optional<WalkPlaces> place_walk(const Page& page, const Box& inside, const WalkPart& part) {
  const double em = page.em(), width = inside.width / em;
  if (width < kMinGrid) return std::nullopt;
  const bool has_chart = width >= kMinChart + kGap + kMinGrid;
  const double max_side =
      std::min(has_chart ? std::min(0.52 * width, width - kMinChart - kGap) : width, kMaxGrid);
  const Tracks row_tracks = choose_rows(page, inside, max_side, part);
  if (row_tracks.empty()) return std::nullopt;
  const double top = inside.y + page.top_margin(inside.height, extent(row_tracks) * em);
  const std::vector<Box> boxes = rows({inside.x, top, inside.width, 0}, row_tracks, em);
  const double side = boxes[1].height / em;
  Tracks tracks{{.size = side, .gap = 1.5 * kGap}, {.most = has_chart ? kMaxChart : 0}};
  fit(tracks, width);
  const double left = inside.x + (width - extent(tracks)) / 2 * em;
  const std::vector<Box> panels = columns({left, boxes[1].y, 0, boxes[1].height}, tracks, em);
  WalkPlaces places;
  places.summary = boxes[0];
  places.grid.box = panels[0];
  if (has_chart) place_chart_and_actions(page, panels[1], places);
  if (boxes[2].height > 0) place_attention(page, boxes[2], part, places);
  places.bottom = boxes[3].bottom();
  return places;
}

WalkFocus walk_focus(const ViewInput& input, const WalkPlaces& places, const WalkPart& part) {
  WalkFocus focus{.row = std::max<Index>(0, part.steps - 1)};
  if (!input.interaction.pointer) return focus;
  const Point p = *input.interaction.pointer;
  focus.cell = places.grid.at(p);
  const Box& cells = places.attention;
  if (cells.height <= 0 || !cells.contains(p)) return focus;
  const auto index_at = [](double x, double first, double size, Index count) {
    return std::min(static_cast<Index>((x - first) / size * static_cast<double>(count)), count - 1);
  };
  focus.row = index_at(p.y, cells.y, cells.height, part.walk.steps());
  const Index key = index_at(p.x, cells.x, cells.width, part.tokens());
  if (key <= kTokensOfStep * focus.row + 1) focus.key = key;
  return focus;
}

}  // namespace attnscope
