// Approximations (low rank, kernels): transformed keys, and the difference of the implied weights
// from softmax weights.
#include <algorithm>
#include <cmath>

#include "core/analysis/divergence.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/map/map_raster.h"
#include "core/view/mechanism/approximation_numbers.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"
#include "core/view/parts/row_bars.h"

namespace attnscope {
namespace {

constexpr double kMixFraction = 0.3;     // fraction of the height for slots or features with labels
constexpr double kMinMix = 4;            // em: height of the cells
constexpr double kMaxMixRow = 2;         // em
constexpr double kMaxMixLabels = 6;      // em: depth of the labels
constexpr double kBarsFoot = 1.5;        // em: number below the bars
constexpr double kMinCompared = 10;      // em: height of the maps
constexpr double kBarsWidth = 5;         // em
constexpr double kMinDifference = 0.01;  // minimum range of the difference colours
constexpr double kMinBits = 0.001;       // minimum range of the row bars

// Mean of the finite numbers; NaN if none is finite.
double mean_of(const Tensor& rows) {
  double sum = 0, count = 0;
  for (const float x : rows) {
    if (!std::isfinite(x)) continue;
    sum += static_cast<double>(x);
    ++count;
  }
  return sum / count;
}

struct ApproximationPlan {
  Approximation result;
  Box mix, maps;  // with their sentences; zero height if omitted
  Box mix_cells;
  TokenAxis mix_rows, mix_columns;
  double mix_left = 0, mix_top = 0;
  MapRaster raster;  // softmax, implied, difference
  double bars = 0;   // width of the row bars next to the difference map
  // True if all maps are in one row, with both colour bars to its right.
  bool is_one_row() const { return raster.per_row == 3; }
};

// Places the rows of a mix below the tokens.
void place_mix(const Page& page, ApproximationPlan& plan) {
  const double em = page.em(), max_depth = kMaxMixLabels * em;
  const auto rows = static_cast<double>(plan.result.mix.values.dim(0));
  const char* name = plan.result.mix.has_slots ? "slot" : "feature";
  for (Index n = 0; n < plan.result.mix.values.dim(0); ++n) {
    plan.mix_rows.labels.push_back(std::to_string(n));
  }
  plan.mix_rows.titles = {name};
  plan.mix_columns = plan.result.keys;
  plan.mix_columns.titles = {};
  const Box box = below(plan.mix, step_height(page));
  plan.mix_left = axis_depth_left(page, plan.mix_rows, box.height / 2, max_depth);
  const double width = box.width - plan.mix_left - colour_bar_width(page);
  plan.mix_top =
      axis_depth_top(page, plan.mix_columns, width, std::min(max_depth, 0.4 * box.height));
  const double height = std::min(box.height - plan.mix_top, rows * kMaxMixRow * em);
  plan.mix_cells = {box.x + plan.mix_left, box.y + plan.mix_top, width, height};
}

std::optional<ApproximationPlan> plan_approximation(const Page& page, const Box& inside,
                                                    const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  ApproximationPlan plan;
  plan.result = approximation_of(in);
  Box area = inside;
  if (plan.result.mix.values.defined()) {
    plan.mix = {area.x, area.y, area.width,
                std::min(kMixFraction * inside.height + step, area.height)};
    place_mix(page, plan);
    const auto rows = static_cast<double>(plan.result.mix.values.dim(0));
    if (plan.mix_cells.height < std::min(kMinMix, rows) * em) return {};
    if (plan.mix_cells.width < kMinMix * em) return {};
    area = below(area, plan.mix_cells.bottom() - area.y + 0.6 * em);
  }
  plan.maps = area;
  Box maps = below(area, step);
  plan.bars = plan.result.divergence.defined() ? kBarsWidth * em : 0;
  maps.width -= plan.bars + colour_bar_width(page);
  maps.height -= kBarsFoot * em;
  if (maps.height < kMinCompared * em) return {};
  plan.raster = place_maps(page, maps, plan.result.queries, plan.result.keys, 3);
  if (!(plan.raster.width > 0)) return {};
  return plan;
}

// Colour range of a mix; logarithmic if a few numbers are far larger than the others.
ColourRange mix_range(const HeadInput& in, const Theme& theme, const Tensor& numbers) {
  constexpr double kMinRatio = 100, kLogSpread = 1e-4;
  double max_size = 0, sum = 0;
  for (const float x : numbers) {
    const double size = std::abs(static_cast<double>(x));
    max_size = std::max(max_size, size);
    sum += size;
  }
  if (!(max_size > 0)) max_size = 1;
  if (has_negative(numbers)) return {-max_size, max_size, diverging_colours(theme)};
  ColourRange range{0, max_size, weight_colours(in.input, false).colour_map};
  if (max_size * static_cast<double>(numbers.size()) > kMinRatio * sum) {
    range.scale = ColourRange::Scale::Log;
    range.smallest = kLogSpread * max_size;
  }
  return range;
}

void draw_mix(Page& page, const ApproximationPlan& plan, const HeadInput& in, Index marked_key) {
  const Mix& mix = plan.result.mix;
  const std::string count = std::to_string(mix.values.dim(0));
  const std::string keys = std::to_string(mix.values.dim(1));
  if (mix.has_slots) {
    draw_step(page, plan.mix, 1,
              {"Mix: " + keys + " keys become " + count +
                   "; each slot (row) is a mean of tokens with these weights",
               "Mix: each of " + count + " slots is a weighted mean of keys",
               keys + " keys become " + count, "Mix"});
  } else {
    draw_step(page, plan.mix, 1,
              {"Features: every key, a column, becomes " + count +
                   " numbers φ(k); a weight is a product φ(q)·φ(k) instead of an exponential",
               "Features: every key becomes " + count + " numbers, φ(k)", "Features φ(k)"});
  }
  const Box& box = plan.mix_cells;
  const ColourRange range = mix_range(in, page.theme(), mix.values);
  draw_panel(page, box, mix.values, range);
  const auto height = static_cast<double>(mix.values.dim(0));
  const auto width = static_cast<double>(mix.values.dim(1));
  const double cell = box.width / width;
  page.add(OutlinedBox{{box.x + static_cast<double>(marked_key) * cell, box.y, cell, box.height},
                       page.theme().accent,
                       2});
  draw_axis_left(page, plan.mix_rows, {0, height, box.y, box.height}, box.x, plan.mix_left, -1);
  draw_axis_top(page, plan.mix_columns, {0, width, box.x, box.width}, box.y, plan.mix_top,
                marked_key);
  draw_colour_bar(page, {box.right(), box.y, colour_bar_width(page), box.height}, range,
                  {mix.has_slots ? "share" : "feature", ""});
}

// True if a horizontal key label does not collide with the key labels of the next map.
bool has_space_for_key(const Page& page, const MapRaster& raster, Index key) {
  constexpr double kUpright = 3;  // em: deeper axes have vertical labels
  const std::string label =
      std::to_string(key) + " " + raster.keys.labels[static_cast<std::size_t>(key)];
  return raster.top >= kUpright * page.em() ||
         page.width_of(label, page.em()) <= raster.width / raster.columns.extent;
}

// Draws map `n`, with axes at outer edges. `head`: head whose weights the map shows, else null.
void draw_compared_map(Page& page, const MapRaster& raster, Index n, const NamedCells& map,
                       const ColourRange& range, Pair marked, const HeadInput* head) {
  const Box box = raster.map(n);
  HeatMap cells;
  cells.box = box;
  cells.values = map.cells;
  cells.height = raster.rows.extent;
  cells.width = raster.columns.extent;
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  // Columns can be slots, which are all allowed.
  if (head != nullptr && cells.values.dim(1) == head->tap.keys()) {
    cover_excluded(page, cells, head->tap, head->head);
  }
  page.text({box.x + box.width / 2, box.y - raster.title_height / 2},
            page.fitting(map.titles, page.small(), box.width), page.small(), Align::Middle);
  const double dy = box.height / raster.rows.extent, dx = box.width / raster.columns.extent;
  const double y = box.y + static_cast<double>(marked.query) * dy;
  const double x = box.x + static_cast<double>(marked.key) * dx;
  page.add(OutlinedBox{{box.x, y, box.width, dy}, page.theme().accent, 1});
  page.add(OutlinedBox{{x, y, dx, dy}, page.theme().accent, 2});
  page.add(OutlinedBox{box, page.theme().line, 1});
  if (n % raster.per_row == 0) {
    draw_axis_left(page, raster.queries, {0, raster.rows.extent, box.y, box.height}, box.x,
                   raster.left, marked.query);
  }
  if (n < raster.per_row) {
    draw_axis_top(page, raster.keys, {0, raster.columns.extent, box.x, box.width},
                  box.y - raster.title_height, raster.top,
                  has_space_for_key(page, raster, marked.key) ? marked.key : -1);
  }
}

// Colour range of the exact and the implied weights.
ColourRange weights_range(const HeadInput& in, const Approximation& a) {
  HeatMap cells;
  cells.values = a.exact;
  cells.height = static_cast<double>(a.exact.dim(0));
  cells.width = static_cast<double>(a.exact.dim(1));
  const bool has_signs = has_negative(a.implied);
  if (a.exact.dim(1) == in.tap.keys()) {
    return colour_range(in.input, cells, in.tap, in.head, has_signs);
  }
  // The pattern of methods with slots does not describe pairs of tokens.
  ColourRange range = weight_colours(in.input, has_signs);
  std::vector<float> sizes;
  for (const float x : a.exact) sizes.push_back(std::abs(x));
  set_range_end(range, std::move(sizes), in.input.session.view.colour_end, has_signs);
  return range;
}

ColourRange difference_range(const Page& page, const Tensor& numbers) {
  double max_size = kMinDifference;
  for (const float x : numbers) {
    if (std::isfinite(x)) max_size = std::max(max_size, std::abs(static_cast<double>(x)));
  }
  return {-max_size, max_size, diverging_colours(page.theme())};
}

void draw_comparison_titles(Page& page, const ApproximationPlan& plan, int number) {
  const double gap = page.em();
  const Mix& mix = plan.result.mix;
  const std::string method =
      mix.has_slots ? "Attend to the slots" : "Sum keys once for all queries";
  const std::string mean =
      plan.result.divergence.defined() ? brief(mean_of(plan.result.divergence), 2) : std::string();
  const Box third = plan.raster.map(2);
  Box box = plan.maps;
  if (plan.is_one_row()) box.width = third.x - box.x - gap;
  draw_step(
      page, box, number,
      {method + ": implied weights on tokens, next to those of a softmax",
       method + ": implied weights", "Implied weights next to a softmax's", "Implied weights"});
  if (!plan.is_one_row()) return;
  box = {third.x, plan.maps.y, plan.maps.right() - third.x, plan.maps.height};
  if (mean.empty()) {
    draw_step(page, box, number + 1,
              {"Difference: some implied weights are negative", "Difference, some negative",
               "Difference"});
  } else {
    draw_step(page, box, number + 1,
              {"Difference: KL divergence of rows " + mean + " bits on average",
               "KL " + mean + " bits", "Difference"});
  }
}

// Draws the divergence of rows next to the map of differences, and both colour bars.
void draw_right_side(Page& page, const ApproximationPlan& plan, const ColourRange& weights,
                     const ColourRange& differences, Pair marked) {
  const double em = page.em();
  const Box third = plan.raster.map(2);
  if (plan.bars > 0) {
    const Tensor& rows = plan.result.divergence;
    MatrixPlot plot;
    plot.height = static_cast<double>(rows.size());
    plot.scale = page.input().canvas.scale;
    plot.hovered_row = marked.query;
    draw_row_bars(page, {third.right() + 0.4 * em, third.y, plan.bars - 0.8 * em, third.height},
                  plot,
                  {std::vector<double>(rows.begin(), rows.end()), {"KL, bits", "KL"}, kMinBits});
  }
  const double bar = colour_bar_width(page), x = third.right() + plan.bars;
  const Box first = plan.raster.map(0);
  const double weights_x = plan.is_one_row() ? x : plan.raster.map(plan.raster.per_row - 1).right();
  const bool is_pooled =
      static_cast<double>(plan.result.exact.dim(1)) > first.width * page.input().canvas.scale;
  std::vector<std::string> titles{"weight", ""};
  if (is_pooled) titles = {"weight, max-pooled", "weight, pooled", "pooled"};
  draw_colour_bar(page, {weights_x, first.y, bar, first.height}, weights, titles);
  draw_colour_bar(page, {plan.is_one_row() ? x + bar : x, third.y, bar, third.height}, differences,
                  {"difference of weights", "difference", ""});
}

void draw_comparison(Page& page, const ApproximationPlan& plan, const HeadInput& in, int number,
                     Pair marked) {
  draw_comparison_titles(page, plan, number);
  const ColourRange weights = weights_range(in, plan.result);
  const Tensor numbers = difference(plan.result.exact, plan.result.implied);
  const ColourRange differences = difference_range(page, numbers);
  const MapRaster& raster = plan.raster;
  draw_compared_map(page, raster, 0,
                    {{"softmax of the same q and k", "softmax"}, plan.result.exact}, weights,
                    marked, &in);
  draw_compared_map(page, raster, 1, {{"implied by this method", "implied"}, plan.result.implied},
                    weights, marked, &in);
  const std::vector<std::string> titles =
      plan.result.divergence.defined()
          ? std::vector<std::string>{"softmax − implied", "difference"}
          : std::vector<std::string>{"softmax − implied: some are negative", "some negative",
                                     "difference"};
  draw_compared_map(page, raster, 2, {titles, numbers}, differences, marked, nullptr);
  draw_axis_titles(page, {raster.map(0).x, raster.map(0).y}, raster.left_edge);
  draw_right_side(page, plan, weights, differences, marked);
}

MechanismLayout draw_approximation(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<ApproximationPlan> plan = plan_approximation(page, inside, in);
  if (!plan) return {.is_too_small = true};
  const auto keys = plan->result.exact.dim(1);
  const MapPairAt token_pair{plan->raster, 3};
  MechanismLayout layout;
  // With slots as columns, pairs of the map are not pairs of tokens.
  if (keys == in.tap.keys() && in.tap.result.columns.empty()) layout.pair_at = token_pair;
  const ViewSettings& settings = in.input.session.view;
  Pair marked{settings.pinned_query, settings.pinned_key};
  if (marked.query < 0 || marked.query >= in.tap.queries()) marked.query = in.tap.queries() - 1;
  if (in.input.interaction.pointer) {
    marked = token_pair(*in.input.interaction.pointer).value_or(marked);
    if (plan->mix.height > 0 && plan->mix_cells.contains(*in.input.interaction.pointer)) {
      marked.key = static_cast<Index>((in.input.interaction.pointer->x - plan->mix_cells.x) /
                                      plan->mix_cells.width * static_cast<double>(keys));
    }
  }
  if (marked.key < 0 || marked.key >= keys) {
    const float* row = plan->result.exact.data() + marked.query * keys;
    marked.key = std::max_element(row, row + keys) - row;
  }
  int number = 1;
  if (plan->mix.height > 0) draw_mix(page, *plan, in, marked.key), ++number;
  draw_comparison(page, *plan, in, number, marked);
  layout.bottom = plan->raster.box.bottom() + kBarsFoot * page.em();
  return layout;
}

std::vector<ViewData::Matrix> approximation_numbers(const HeadInput& in) {
  const Approximation a = approximation_of(in);
  std::vector<ViewData::Matrix> matrices{
      {"softmax", a.exact, a.queries.labels, a.keys.labels},
      {"implied", a.implied, a.queries.labels, a.keys.labels},
      {"softmax - implied", difference(a.exact, a.implied), a.queries.labels, a.keys.labels}};
  if (a.divergence.defined()) {
    matrices.push_back({"KL of each row, bits",
                        a.divergence.reshaped({1, a.divergence.size()}),
                        {"KL(softmax, implied)"},
                        a.queries.labels,
                        {"measure"}});
  }
  if (a.mix.values.defined()) {
    std::vector<std::string> rows;
    for (Index n = 0; n < a.mix.values.dim(0); ++n) rows.push_back(std::to_string(n));
    const char* name = a.mix.has_slots ? "slot" : "feature";
    matrices.push_back({name, a.mix.values, rows, a.keys.labels, {name}});
  }
  return matrices;
}

}  // namespace

Mechanism approximation_mechanism() {
  Mechanism m{"approximation", "transformed keys, and the difference of its weights from a softmax",
              shows_approximation, draw_approximation, approximation_numbers};
  m.label = "Compared with softmax";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
