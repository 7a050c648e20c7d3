// Scores: where the numbers before the softmax come from, and what becomes of a row of them.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/chart.h"
#include "core/view/colour_bar.h"
#include "core/view/describe.h"
#include "core/view/focus.h"
#include "core/view/legend.h"
#include "core/view/map_raster.h"
#include "core/view/score_stages.h"
#include "core/view/token_axis.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMostLabels = 7;    // em beside and above the maps
constexpr double kRowTitle = 1.6;    // em above the legend of a row
constexpr double kLeastStage = 2.5;  // em: the height of a row of bars
constexpr double kMostStage = 7;

ColourRange range_of(const ViewInput& input, const std::vector<ScoreMap>& maps) {
  float largest = 0;
  for (const ScoreMap& map : maps) {
    for (const float v : map.cells) {
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    }
  }
  ColourRange range;
  range.most = largest > 0 ? static_cast<double>(largest) : 1;
  range.least = -range.most;
  range.colour_map = input.experiment.view.colour_map;
  if (!colour_map(range.colour_map).diverging()) {
    range.colour_map = diverging_colours(input.theme);
  }
  return range;
}

void draw_terms(Page& page, const MapRaster& m, const std::vector<ScoreMap>& maps, Index query,
                const std::optional<Pair>& hovered) {
  std::vector<NamedCells> named;
  for (const ScoreMap& map : maps) {
    const bool is_first = named.empty();
    const std::string sign = map.is_sum && maps.size() > 1 ? "= "
                             : is_first || map.is_factor   ? ""
                                                           : "+ ";
    named.push_back({{sign + map.name, sign + map.short_name}, map.cells});
  }
  draw_maps(page, m, named, range_of(page.input(), maps), {"score, before the softmax", "score"},
            query, hovered);
}

ChartAxis axis_of_all(const std::vector<std::vector<double>>& lists,
                      std::vector<std::string> titles) {
  double least = 0, most = 0;
  for (const std::vector<double>& list : lists) {
    for (const double v : list) {
      if (!std::isfinite(v)) continue;
      least = std::min(least, v);
      most = std::max(most, v);
    }
  }
  ChartAxis axis = axis_of(least, most, true);
  axis.titles = std::move(titles);
  return axis;
}

struct Stage {
  ChartAxis axis;
  std::vector<std::vector<double>> values;  // side by side
  std::vector<Colour> colours;
};

std::vector<Stage> stages_of(const Theme& theme, const RowStages& row) {
  std::vector<Stage> stages;
  if (row.terms.size() > 1) {
    Stage terms{axis_of_all(row.terms, {"terms"}), row.terms, {}};
    for (std::size_t n = 0; n < row.terms.size(); ++n) {
      terms.colours.push_back(head_colour(static_cast<Index>(n)));
    }
    stages.push_back(std::move(terms));
  }
  const auto add = [&](const std::vector<double>& values, std::vector<std::string> titles,
                       Colour colour) {
    stages.push_back({axis_of_all({values}, std::move(titles)), {values}, {colour}});
  };
  add(row.score, {"score", "s"}, theme.text);
  add(row.weight, {"weight", "a"}, theme.accent);
  add(row.contribution, {"weight·‖v‖", "× ‖v‖"}, key_colour(theme));
  return stages;
}

// The keys' axis above, a row of bars for each stage below. Returns where they end; nothing where
// there is no space for them.
std::optional<double> draw_row(Page& page, const Box& box, const MapRaster& m,
                               const std::vector<ScoreMap>& maps, const RowStages& row,
                               const std::string& query, Index marked) {
  const double em = page.em();
  const std::vector<Stage> stages = stages_of(page.theme(), row);
  std::vector<LegendEntry> entries;
  if (row.terms.size() > 1) {
    for (std::size_t n = 0; n < row.terms.size(); ++n) {
      entries.push_back({stages.front().colours[n], maps[n].name});
    }
  }
  double left = 0;
  for (const Stage& stage : stages) left = std::max(left, chart_left(page, stage.axis));
  const double right = 0.5 * em, width = box.width - left - right;
  const double most = std::min(kMostLabels * em, 0.2 * box.height);
  const double depth = axis_depth_top(page, m.keys, std::max(1.0, width), most);
  const double legend = legend_height(page, entries, box.width);
  const auto count = static_cast<double>(stages.size());
  const double height =
      std::min((box.height - kRowTitle * em - legend - depth) / count, kMostStage * em);
  if (height < kLeastStage * em || width < 6 * em) return std::nullopt;
  const std::string title = "The row of the query " + query + ", stage by stage";
  page.text({box.x, box.y + 0.7 * em}, page.ellipsised(title, em, box.width), em);
  double y = box.y + kRowTitle * em;
  draw_legend(page, entries, {box.x, y, box.width, legend});
  y += legend;
  draw_axis_top(page, m.keys, {m.columns.first, m.columns.extent, box.x + left, width}, y + depth,
                depth, marked);
  y += depth;
  for (const Stage& stage : stages) {
    const Chart chart = place_chart(page, {box.x, y, box.width, height},
                                    {.least = m.columns.first,
                                     .most = m.columns.first + m.columns.extent,
                                     .titles = {},
                                     .whole = true,
                                     .numbers = false},
                                    stage.axis, left, right);
    draw_chart(page, chart);
    const auto bars = static_cast<double>(stage.values.size());
    for (std::size_t n = 0; n < stage.values.size(); ++n) {
      for (std::size_t c = 0; c < stage.values[n].size(); ++c) {
        if (!m.columns.holds(static_cast<Index>(c))) continue;
        const double at =
            static_cast<double>(c) + 0.1 + 0.8 * (static_cast<double>(n) + 0.5) / bars;
        draw_bar(page, chart, at, 0.8 / bars, stage.values[n][c], stage.colours[n]);
      }
    }
    y += height;
  }
  return y;
}

std::string about(const ViewInput& input, const AttentionTap& tap) {
  const ViewSettings& settings = input.experiment.view;
  return "Scores of layer " + std::to_string(settings.layer) + ", head " +
         std::to_string(settings.head) +
         ", before the softmax, as the sum of their terms: " + describe(tap) +
         ". Pairs that are not allowed are left empty; ‖v‖ is the length of a "
         "key's value.";
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const Found found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  if (const NoScores none = why_no_scores(tap); !none.headline.empty()) {
    return page.message(none.headline, none.advice);
  }
  const ViewSettings& settings = input.experiment.view;
  const std::string show = view_values(settings, "scores").choice("show");
  const std::vector<ScoreMap> maps = score_maps(input, tap, found.head);
  const Box inside = page.frame(head_title(input), caption(input.trace, about(input, tap)));
  const double em = page.em();
  const auto count = static_cast<Index>(maps.size());
  MapRaster m;
  // Where there is little space, the row gives way to the maps.
  constexpr double kShare = 0.48, kLargerShare = 0.7;  // of the height
  for (const double share : {show == "both" ? kShare : 1, kLargerShare, 1.0}) {
    if (m.width > 0) break;
    const double height = show == "row" ? 0 : share * inside.height;
    m = place_maps(page, {inside.x, inside.y, inside.width, height}, tap, count);
    if (show == "row") break;
  }
  const bool has_maps = show != "row" && m.width > 0;
  if (!has_maps && show != "row") {
    return no_space(page);
  }
  const MapPairAt at{m, has_maps ? count : 0};
  std::optional<Pair> hovered;
  if (input.pointer) hovered = at(*input.pointer);
  const Pair focus = focus_of(input, tap, found.head, hovered);
  double bottom = inside.y;
  if (has_maps) {
    draw_terms(page, m, maps, focus.query, hovered);
    bottom = m.box.bottom();
  }
  if (show != "maps") {
    const double top = has_maps ? bottom + 0.9 * em : inside.y;
    const std::optional<double> end =
        draw_row(page, {inside.x, top, inside.width, inside.bottom() - top}, m, maps,
                 row_stages(tap, found.head, focus.query, maps),
                 query_label(input.trace, tap, focus.query), hovered ? hovered->key : -1);
    if (!end && !has_maps) {
      return no_space(page);
    }
    bottom = end.value_or(bottom);
  }
  ViewLayout layout;
  if (has_maps) set_plot(layout, at, input.pointer);
  layout.hit = hits_of(at, settings);
  layout.list = page.take(bottom);
  return layout;
}

ViewData data(const ViewInput& input) {
  const Found found = find_tap(input);
  if (found.tap == nullptr) throw InputError(found.headline + ". " + found.advice);
  if (const NoScores none = why_no_scores(*found.tap); !none.headline.empty()) {
    throw InputError(none.headline + ". " + none.advice);
  }
  ViewData numbers;
  for (const ScoreMap& map : score_maps(input, *found.tap, found.head)) {
    numbers.matrices.push_back({map.name, map.cells, query_axis(input.trace, *found.tap).labels,
                                key_axis(input.trace, *found.tap).labels});
  }
  return numbers;
}

}  // namespace

View scores_view() {
  View view = {"scores",
               "Scores",
               "The terms of the scores before the softmax, and one query's row stage by stage.",
               true,
               lay_out,
               {{.key = "show",
                 .label = "Show",
                 .help = "The terms as maps, one row as bars, or both.",
                 .kind = Parameter::Kind::Choice,
                 .initial = std::string("both"),
                 .choices = {"both", "maps", "row"}}}};
  view.data = data;
  return view;
}

}  // namespace attnscope
