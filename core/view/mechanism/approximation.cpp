// Approximations (low rank, kernels): transformed keys, and the difference of the implied weights
// from those of a softmax.
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

constexpr double kMixShare = 0.3;        // share of the height for slots or features with labels
constexpr double kMinMix = 4;            // em, without labels
constexpr double kMaxMixRow = 2;         // em
constexpr double kMaxMixLabels = 6;      // em
constexpr double kBarsFoot = 1.5;        // em: number below the bars
constexpr double kMinCompared = 10;      // em
constexpr double kBarsWidth = 5;         // em
constexpr double kMinDifference = 0.01;  // minimum range of the difference colours
constexpr double kMinBits = 0.001;       // minimum range of the row bars

// Mean over the finite rows; NaN if there are none.
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
  Approximation of;
  Box mix, maps;  // including their sentences; zero height: omitted
  Box mix_cells;
  TokenAxis mix_rows, mix_columns;
  double mix_left = 0, mix_top = 0;
  MapRaster raster;  // softmax, implied, difference
  double bars = 0;   // width of the row bars next to the difference
  // To the right of maps and bars: colour bars of weights and difference.
  bool in_line() const { return raster.across == 3; }
};

// Places the rows of a mix below the tokens.
void place_mix(const Page& page, ApproximationPlan& plan) {
  const double em = page.em(), most = kMaxMixLabels * em;
  const auto rows = static_cast<double>(plan.of.mix.values.dim(0));
  const char* name = plan.of.mix.slots ? "slot" : "feature";
  for (Index n = 0; n < plan.of.mix.values.dim(0); ++n) {
    plan.mix_rows.labels.push_back(std::to_string(n));
  }
  plan.mix_rows.titles = {name};
  plan.mix_columns = plan.of.keys;
  plan.mix_columns.titles = {};
  const Box box = below(plan.mix, step_height(page));
  plan.mix_left = axis_depth_left(page, plan.mix_rows, box.height / 2, most);
  const double width = box.width - plan.mix_left - colour_bar_width(page);
  plan.mix_top = axis_depth_top(page, plan.mix_columns, width, std::min(most, 0.4 * box.height));
  const double height = std::min(box.height - plan.mix_top, rows * kMaxMixRow * em);
  plan.mix_cells = {box.x + plan.mix_left, box.y + plan.mix_top, width, height};
}

std::optional<ApproximationPlan> plan_approximation(const Page& page, const Box& inside,
                                                    const MechanismOf& of) {
  const double em = page.em(), step = step_height(page);
  ApproximationPlan plan;
  plan.of = approximation_of(of);
  Box rest = inside;
  if (plan.of.mix.values.defined()) {
    plan.mix = {rest.x, rest.y, rest.width,
                std::min(kMixShare * inside.height + step, rest.height)};
    place_mix(page, plan);
    const auto rows = static_cast<double>(plan.of.mix.values.dim(0));
    if (plan.mix_cells.height < std::min(kMinMix, rows) * em) return {};
    if (plan.mix_cells.width < kMinMix * em) return {};
    rest = below(rest, plan.mix_cells.bottom() - rest.y + 0.6 * em);
  }
  plan.maps = rest;
  Box maps = below(rest, step);
  plan.bars = plan.of.divergence.defined() ? kBarsWidth * em : 0;
  maps.width -= plan.bars + colour_bar_width(page);
  maps.height -= kBarsFoot * em;
  if (maps.height < kMinCompared * em) return {};
  plan.raster = place_maps(page, maps, plan.of.queries, plan.of.keys, 3);
  if (!(plan.raster.width > 0)) return {};
  return plan;
}

// Logarithmic if a few numbers are far larger than the rest, as exponentials are.
ColourRange range_of_mix(const MechanismOf& of, const Theme& theme, const Tensor& numbers) {
  constexpr double kFarLarger = 100, kLogEnds = 1e-4;
  double most = 0, sum = 0;
  for (const float x : numbers) {
    const double size = std::abs(static_cast<double>(x));
    most = std::max(most, size);
    sum += size;
  }
  if (!(most > 0)) most = 1;
  if (has_negative(numbers)) return {-most, most, diverging_colours(theme)};
  ColourRange range{0, most, weight_colours(of.input, false).colour_map};
  if (most * static_cast<double>(numbers.size()) > kFarLarger * sum) {
    range.scale = ColourRange::Scale::Log;
    range.smallest = kLogEnds * most;
  }
  return range;
}

void draw_mix(Page& page, const ApproximationPlan& plan, const MechanismOf& of, Index lit_key) {
  const Mix& mix = plan.of.mix;
  const std::string count = std::to_string(mix.values.dim(0));
  const std::string keys = std::to_string(mix.values.dim(1));
  if (mix.slots) {
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
  const ColourRange range = range_of_mix(of, page.theme(), mix.values);
  draw_panel(page, box, mix.values, range);
  const auto height = static_cast<double>(mix.values.dim(0));
  const auto width = static_cast<double>(mix.values.dim(1));
  const double cell = box.width / width;
  page.add(OutlinedBox{{box.x + static_cast<double>(lit_key) * cell, box.y, cell, box.height},
                       page.theme().accent,
                       2});
  draw_axis_left(page, plan.mix_rows, {0, height, box.y, box.height}, box.x, plan.mix_left, -1);
  draw_axis_top(page, plan.mix_columns, {0, width, box.x, box.width}, box.y, plan.mix_top, lit_key);
  draw_colour_bar(page, {box.right(), box.y, colour_bar_width(page), box.height}, range,
                  {mix.slots ? "share" : "feature", ""});
}

// True if a horizontal key label does not collide with those of the next map.
bool has_space_for_key(const Page& page, const MapRaster& m, Index key) {
  constexpr double kUpright = 3;  // em: deeper axes have vertical labels
  const std::string label =
      std::to_string(key) + " " + m.keys.labels[static_cast<std::size_t>(key)];
  return m.top >= kUpright * page.em() ||
         page.width_of(label, page.em()) <= m.width / m.columns.extent;
}

// Draws one of the maps, with axes at the outer edges. `weights_of`: the head whose weights it
// shows; null: other numbers.
void draw_compared(Page& page, const MapRaster& m, Index n, const NamedCells& map,
                   const ColourRange& range, Pair lit, const MechanismOf* weights_of) {
  const Box box = m.map(n);
  HeatMap cells;
  cells.box = box;
  cells.values = map.cells;
  cells.height = m.rows.extent;
  cells.width = m.columns.extent;
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  // Columns can be slots, which are all allowed.
  if (weights_of != nullptr && cells.values.dim(1) == weights_of->tap.keys()) {
    cover_not_allowed(page, cells, weights_of->tap, weights_of->head);
  }
  page.text({box.x + box.width / 2, box.y - m.title / 2},
            page.fitting(map.titles, page.small(), box.width), page.small(), Align::Middle);
  const double high = box.height / m.rows.extent, wide = box.width / m.columns.extent;
  const double y = box.y + static_cast<double>(lit.query) * high;
  const double x = box.x + static_cast<double>(lit.key) * wide;
  page.add(OutlinedBox{{box.x, y, box.width, high}, page.theme().accent, 1});
  page.add(OutlinedBox{{x, y, wide, high}, page.theme().accent, 2});
  page.add(OutlinedBox{box, page.theme().line, 1});
  if (n % m.across == 0) {
    draw_axis_left(page, m.queries, {0, m.rows.extent, box.y, box.height}, box.x, m.left,
                   lit.query);
  }
  if (n < m.across) {
    draw_axis_top(page, m.keys, {0, m.columns.extent, box.x, box.width}, box.y - m.title, m.top,
                  has_space_for_key(page, m, lit.key) ? lit.key : -1);
  }
}

// Range of the exact map, applied to the implied one as well.
ColourRange weights_range_of(const MechanismOf& of, const Approximation& a) {
  HeatMap cells;
  cells.values = a.exact;
  cells.height = static_cast<double>(a.exact.dim(0));
  cells.width = static_cast<double>(a.exact.dim(1));
  const bool with_signs = has_negative(a.implied);
  if (a.exact.dim(1) == of.tap.keys()) {
    return colour_range(of.input, cells, of.tap, of.head, with_signs);
  }
  // The pattern of methods with slots does not describe pairs of tokens.
  ColourRange range = weight_colours(of.input, with_signs);
  std::vector<float> sizes;
  for (const float x : a.exact) sizes.push_back(std::abs(x));
  set_range_end(range, std::move(sizes), of.input.session.view.colour_end, with_signs);
  return range;
}

ColourRange range_of_difference(const Page& page, const Tensor& numbers) {
  double most = kMinDifference;
  for (const float x : numbers) {
    if (std::isfinite(x)) most = std::max(most, std::abs(static_cast<double>(x)));
  }
  return {-most, most, diverging_colours(page.theme())};
}

void draw_comparison_words(Page& page, const ApproximationPlan& plan, int number) {
  const double gap = page.em();
  const Mix& mix = plan.of.mix;
  const std::string what = mix.slots ? "Attend to the slots" : "Sum keys once for all queries";
  const std::string mean =
      plan.of.divergence.defined() ? brief(mean_of(plan.of.divergence), 2) : std::string();
  const Box third = plan.raster.map(2);
  Box box = plan.maps;
  if (plan.in_line()) box.width = third.x - box.x - gap;
  draw_step(page, box, number,
            {what + ": implied weights on tokens, next to those of a softmax",
             what + ": implied weights", "Implied weights next to a softmax's", "Implied weights"});
  if (!plan.in_line()) return;
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

// Draws the divergence of rows next to the difference, and the colour bars.
void draw_beside(Page& page, const ApproximationPlan& plan, const ColourRange& weights,
                 const ColourRange& apart, Pair lit) {
  const double em = page.em();
  const Box third = plan.raster.map(2);
  if (plan.bars > 0) {
    const Tensor& rows = plan.of.divergence;
    MatrixPlot m;
    m.height = static_cast<double>(rows.size());
    m.scale = page.input().canvas.scale;
    m.hovered_row = lit.query;
    draw_row_bars(page, {third.right() + 0.4 * em, third.y, plan.bars - 0.8 * em, third.height}, m,
                  {std::vector<double>(rows.begin(), rows.end()), {"KL, bits", "KL"}, kMinBits});
  }
  const double wide = colour_bar_width(page), x = third.right() + plan.bars;
  const Box first = plan.raster.map(0);
  const double weights_x = plan.in_line() ? x : plan.raster.map(plan.raster.across - 1).right();
  const bool pooled =
      static_cast<double>(plan.of.exact.dim(1)) > first.width * page.input().canvas.scale;
  std::vector<std::string> titles{"weight", ""};
  if (pooled) titles = {"weight, max-pooled", "weight, pooled", "pooled"};
  draw_colour_bar(page, {weights_x, first.y, wide, first.height}, weights, titles);
  draw_colour_bar(page, {plan.in_line() ? x + wide : x, third.y, wide, third.height}, apart,
                  {"difference of weights", "difference", ""});
}

void draw_comparison(Page& page, const ApproximationPlan& plan, const MechanismOf& of, int number,
                     Pair lit) {
  draw_comparison_words(page, plan, number);
  const ColourRange weights = weights_range_of(of, plan.of);
  const Tensor numbers = difference(plan.of.exact, plan.of.implied);
  const ColourRange apart = range_of_difference(page, numbers);
  const MapRaster& m = plan.raster;
  draw_compared(page, m, 0, {{"softmax of the same q and k", "softmax"}, plan.of.exact}, weights,
                lit, &of);
  draw_compared(page, m, 1, {{"implied by this method", "implied"}, plan.of.implied}, weights, lit,
                &of);
  const std::vector<std::string> titles =
      plan.of.divergence.defined()
          ? std::vector<std::string>{"softmax − implied", "difference"}
          : std::vector<std::string>{"softmax − implied: some are negative", "some negative",
                                     "difference"};
  draw_compared(page, m, 2, {titles, numbers}, apart, lit, nullptr);
  draw_axis_titles(page, {m.map(0).x, m.map(0).y}, m.left_end);
  draw_beside(page, plan, weights, apart, lit);
}

MechanismLayout draw_approximation(Page& page, const Box& inside, const MechanismOf& of) {
  std::optional<ApproximationPlan> plan = plan_approximation(page, inside, of);
  if (!plan) return {.no_space = true};
  const auto keys = plan->of.exact.dim(1);
  const MapPairAt token_pair{plan->raster, 3};
  MechanismLayout layout;
  // With slots as columns, pairs of the map are not pairs of tokens.
  if (keys == of.tap.keys() && of.tap.result.columns.empty()) layout.pair_at = token_pair;
  const ViewSettings& settings = of.input.session.view;
  Pair lit{settings.pinned_query, settings.pinned_key};
  if (lit.query < 0 || lit.query >= of.tap.queries()) lit.query = of.tap.queries() - 1;
  if (of.input.interaction.pointer) {
    lit = token_pair(*of.input.interaction.pointer).value_or(lit);
    if (plan->mix.height > 0 && plan->mix_cells.contains(*of.input.interaction.pointer)) {
      lit.key = static_cast<Index>((of.input.interaction.pointer->x - plan->mix_cells.x) /
                                   plan->mix_cells.width * static_cast<double>(keys));
    }
  }
  if (lit.key < 0 || lit.key >= keys) {
    const float* row = plan->of.exact.data() + lit.query * keys;
    lit.key = std::max_element(row, row + keys) - row;
  }
  int number = 1;
  if (plan->mix.height > 0) draw_mix(page, *plan, of, lit.key), ++number;
  draw_comparison(page, *plan, of, number, lit);
  layout.bottom = plan->raster.box.bottom() + kBarsFoot * page.em();
  return layout;
}

std::vector<ViewData::Matrix> approximation_numbers(const MechanismOf& of) {
  const Approximation a = approximation_of(of);
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
    const char* name = a.mix.slots ? "slot" : "feature";
    matrices.push_back({name, a.mix.values, rows, a.keys.labels, {name}});
  }
  return matrices;
}

}  // namespace

Mechanism approximation_mechanism() {
  Mechanism m{"approximation", "transformed keys, and the difference of its weights from a softmax",
              shows_approximation, draw_approximation, approximation_numbers};
  m.label = "Compared with softmax";
  m.weights = true;
  return m;
}

}  // namespace attnscope
