// Scores view: terms of the scores before the softmax, and one row through all stages.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/view/map/map_raster.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/token_axis.h"
#include "core/view/scores/score_row.h"
#include "core/view/scores/score_stages.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMapHeight = 0.48;  // fraction of the height for maps above a row
constexpr double kGap = 0.6;         // em between maps and row
constexpr double kGoodMap = 6;       // em: optional stages are omitted if that widens narrower maps
constexpr double kNoteLine = 1.4;    // em: note in place of the row

ColourRange score_range(const ViewInput& input, const std::vector<ScoreMap>& maps) {
  float largest = 0;
  for (const ScoreMap& map : maps) {
    for (const float v : map.cells) {
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
    }
  }
  ColourRange range;
  range.most = largest > 0 ? static_cast<double>(largest) : 1;
  range.least = -range.most;
  range.colour_map = input.session.view.colour_map;
  if (!colour_map(range.colour_map).diverging()) {
    range.colour_map = diverging_colours(input.canvas.theme);
  }
  return range;
}

void draw_terms(Page& page, const MapRaster& raster, const std::vector<ScoreMap>& maps, Index query,
                const std::optional<Pair>& hovered) {
  std::vector<NamedCells> named;
  for (const ScoreMap& map : maps) {
    const bool is_first = named.empty();
    const std::string sign = map.is_sum && maps.size() > 1 ? "= "
                             : is_first || map.is_factor   ? ""
                                                           : "+ ";
    named.push_back({{sign + map.name, sign + map.short_name}, map.cells});
  }
  draw_maps(page, raster, named, score_range(page.input(), maps),
            {"score, before the softmax", "score"}, query, hovered);
}

std::string describe_picture(const ViewInput& input, const AttentionTap& tap) {
  const ViewSettings& settings = input.session.view;
  return "Scores of " + describe_head(input.trace, settings) +
         ", before the softmax, as the sum of their terms: " + describe(tap) +
         ". Excluded pairs are empty; ‖v‖ is the norm of a key's value.";
}

// Layout of maps and row. Omitted maps have zero width; an omitted row has no stages.
struct Parts {
  MapRaster maps;
  RowPlan plan;
  Box row;
};

// Lays out the maps and the stages of the row: as many stages as fit below the maps. Omits the row
// if not even kMinStages fit.
// `show`: "maps", "row" or "both".
Parts place_parts(const Page& page, const Box& inside, const AttentionTap& tap,
                  const std::vector<ScoreMap>& maps, const std::string& show) {
  const double gap = kGap * page.em();
  const auto count = static_cast<Index>(maps.size());
  const auto place_maps_within = [&](double height) {
    return place_maps(page, {inside.x, inside.y, inside.width, height}, tap, count);
  };
  Parts parts;
  parts.maps = place_maps_within(0);
  const TokenAxis keys = key_axis(page.input().trace, tap);
  const auto height_above = [&](const RowPlan& plan) {
    return inside.height - (show == "both" ? gap : 0) - plan.min_height;
  };
  // Omitting stages does not make the maps much wider than this.
  const double most_height = height_above(plan_row(page, maps, keys, inside, kMinStages));
  const double widest =
      0.98 * place_maps_within(std::min(most_height, kMapHeight * inside.height)).width;
  const double good_width = std::min(kGoodMap * page.em(), widest);
  for (int stages = stage_count(maps); show != "maps" && stages >= kMinStages; --stages) {
    const RowPlan plan = plan_row(page, maps, keys, inside, stages);
    const double space = height_above(plan);
    if (space < 0) continue;
    if (show == "both") {
      const double min_width = std::max(stages > kMinStages ? good_width : 0, 1e-6);
      parts.maps = place_maps_within(std::min(space, kMapHeight * inside.height));
      if (!(parts.maps.width >= min_width)) parts.maps = place_maps_within(space);
      if (!(parts.maps.width >= min_width)) continue;
    }
    parts.plan = plan;
    const double top = parts.maps.width > 0 ? parts.maps.box.bottom() + gap : inside.y;
    parts.row = {inside.x, top, inside.width, inside.bottom() - top};
    return parts;
  }
  if (show == "row") return parts;
  parts.maps = place_maps_within(inside.height - (show == "both" ? kNoteLine * page.em() : 0));
  if (!(parts.maps.width > 0)) parts.maps = place_maps_within(inside.height);
  return parts;
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const AttentionTap& tap = *selected.tap;
  if (const Refusal refusal = refusal_of_scores(input.trace, tap)) return refusal.message(page);
  const ViewSettings& settings = input.session.view;
  const std::string show = view_values(settings, "scores").choice("show");
  const std::vector<ScoreMap> maps = score_maps(input, tap, selected.head);
  const Box inside =
      page.frame(title_with_head(input), caption(input.trace, describe_picture(input, tap)));
  const Parts parts = place_parts(page, inside, tap, maps, show);
  const bool has_maps = parts.maps.width > 0, has_row = parts.plan.stages > 0;
  if (!has_maps && !has_row) return no_space(page);
  const MapPairAt map_pair_at{parts.maps, has_maps ? static_cast<Index>(maps.size()) : 0};
  std::optional<Pair> hovered;
  if (input.interaction.pointer) hovered = map_pair_at(*input.interaction.pointer);
  const Pair focus = focus_of(input, tap, selected.head, hovered);
  double bottom = parts.maps.box.bottom();
  if (has_maps) draw_terms(page, parts.maps, maps, focus.query, hovered);
  ViewLayout layout;
  std::vector<Tensor> cells;
  for (const ScoreMap& map : maps) cells.push_back(map.cells);
  layout.hit = hit_test(map_pair_at, settings, std::move(cells));
  if (has_row) {
    const RowStages row = row_stages(tap, selected.head, focus.query, maps);
    const RowPlot plot = place_row(page, parts.row, parts.plan, parts.maps.columns, row);
    Index marked_key = hovered ? hovered->key : -1;
    if (input.interaction.pointer && !hovered) marked_key = plot.key_at(*input.interaction.pointer);
    draw_row(page, parts.row, parts.plan, plot, maps, row,
             query_label(input.trace, tap, focus.query), marked_key);
    layout.hit = [hit_in_maps = layout.hit, plot, layer = settings.layer, head = settings.head,
                  query = focus.query](Point p) {
      const Index key = plot.key_at(p);
      return key < 0 ? hit_in_maps(p) : std::optional(Hit{layer, head, query, key});
    };
    bottom = plot.bars.bottom();
  } else if (show == "both" && inside.bottom() - bottom >= page.small()) {
    page.faint_text({inside.x, bottom + kNoteLine / 2 * page.em()},
                    page.ellipsised("Enlarge the window to see the query's row", page.small(),
                                    parts.maps.box.right() - inside.x),
                    page.small());
    bottom += kNoteLine * page.em();
  }
  if (has_maps) set_plot(layout, map_pair_at, input.interaction.pointer);
  layout.list = page.take(bottom);
  return layout;
}

ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  refusal_of_scores(input.trace, *selected.tap).throw_if_refused();
  ViewData numbers;
  for (const ScoreMap& map : score_maps(input, *selected.tap, selected.head)) {
    numbers.matrices.push_back({map.name, map.cells, query_axis(input.trace, *selected.tap).labels,
                                key_axis(input.trace, *selected.tap).labels});
  }
  return numbers;
}

}  // namespace

View scores_view() {
  return {.id = "scores",
          .label = "Scores",
          .group = "Attention",
          .summary = "Terms of the scores before the softmax, and one query's row stage by stage.",
          .lay_out = lay_out,
          .reading = fixed_reading(
              "The origin of weights: the product q · k plus terms of the encoding is the score; "
              "the softmax turns a row of scores into weights that sum to 1.",
              {{"Score", "how well query and key match; only differences within a row matter."},
               {"Scale",
                "1/√d for head size d: without it, products of long vectors would be so different "
                "that one key got all the weight."}}),
          .data = data,
          .options = {.parameters = {{.key = "show",
                                      .label = "Show",
                                      .help = "Terms as maps, one row as bars, or both.",
                                      .kind = Parameter::Kind::Choice,
                                      .initial = std::string("both"),
                                      .choices = {"both", "maps", "row"}}},
                      // Signed numbers always use a diverging colour map, up to the largest
                      // magnitude.
                      .restrict_controls = without_colours},
          .content = {.objection = objection_to_all(refusal_of_scores)},
          .cells = {.zoom = true}};
}

}  // namespace attnscope
