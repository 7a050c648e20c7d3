// Paths of information from a key to a query through several layers, for any method: stacked
// layers, size of the receptive field, and layers until each pair is connected.
#include <algorithm>

#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/view/mechanism/layer_figure.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {
namespace {

constexpr double kPathLabels = 0.14;   // fraction of the height for token labels
constexpr double kPathFraction = 0.5;  // maximum fraction of the height for the layers
constexpr double kMinReachMap = 8;     // em
constexpr Index kMaxCounted = 10;      // maximum number of layers in the curve
constexpr double kSideBySide = 38;     // em: minimum width for a curve next to the map
constexpr double kMaxCurve = 22;       // em: height
constexpr const char* kNoPaths =
    "Paths require attention within one sequence: no memory or cross-attention, and up "
    "to 1,024 tokens.";

bool has_paths(const AttentionTap& tap) {
  return tap.queries() == tap.keys() && tap.result.columns.empty() &&
         tap.query_rows.stream == tap.key_rows.stream && tap.queries() <= LayerChain::kMaxLength;
}

struct PathPlan {
  LayerChain chain;
  Index layers = 1;
  Pair initial{};  // pair shown without a pointer
  TokenColumns columns{};
  Box sentence{}, levels{}, left{}, right{};  // left and right include their sentences
  MatrixPlot reach{};
};

// The pinned pair. The default key is one that needs the most layers to reach the query.
Pair path_pair(const HeadInput& in, const LayerChain& chain, Index layers) {
  const ViewSettings& settings = in.input.session.view;
  const auto is_token = [&](Index n) { return n >= 0 && n < chain.length(); };
  Pair pair{chain.length() - 1, -1};
  if (!in.tap.causal) pair.query = 2 * chain.length() / 3;
  if (is_token(settings.pinned_query)) pair.query = settings.pinned_query;
  pair.key =
      is_token(settings.pinned_key) ? settings.pinned_key : farthest_key(chain, pair.query, layers);
  return pair;
}

std::optional<PathPlan> plan_paths(const Page& page, const Box& inside, const HeadInput& in,
                                   LayerChain chain) {
  const double em = page.em(), step = step_height(page);
  PathPlan plan{std::move(chain)};
  plan.layers = layers_to_show(in.input, plan.chain);
  plan.initial = path_pair(in, plan.chain, plan.layers);
  plan.sentence = {inside.x, inside.y, inside.width, step};
  const LayerMargins margins = layer_margins(page, inside.width);
  TokenAxis tokens = query_axis(in.input.trace, in.tap);
  tokens.titles = {};
  plan.columns = place_columns(
      page,
      {inside.x + margins.left, inside.y + step, inside.width - margins.left - margins.right, 0},
      tokens, kPathLabels * inside.height);
  const double top = plan.columns.bottom();
  const double spare = kPathFraction * inside.height - (top - inside.y);
  plan.levels = {inside.x, top, inside.width, layers_height(page, plan.layers, spare)};
  if (plan.levels.bottom() > inside.bottom()) return {};
  const Box area = below(inside, plan.levels.bottom() - inside.y + 0.6 * em);
  if (area.height < step + kMinReachMap * em) return plan;
  std::tie(plan.left, plan.right) = split(page, area);
  if (area.width >= kSideBySide * em) {
    plan.left = plan.right = area;
    plan.left.width = plan.right.width = (area.width - em) / 2;
    plan.right.x = area.right() - plan.right.width;
  }
  const double legend_space = reach_legend_height(page, plan.layers, plan.right.width);
  Box map_box = below(plan.right, step + legend_space);
  if (map_box.height < kMinReachMap * em) {
    plan.left = plan.right = {};
    return plan;
  }
  TokenAxis rows = query_axis(in.input.trace, in.tap), keys = key_axis(in.input.trace, in.tap);
  if (map_box.height < 30 * em) {
    rows = with_index_labels(std::move(rows));
    keys = with_index_labels(std::move(keys));
  }
  plan.reach = place_matrix(page, map_box, std::move(rows), std::move(keys), 0);
  return plan;
}

// Handles that pin tokens: queries in the top row, keys in the bottom row.
std::vector<Handle> path_handles(const TokenColumns& columns, const Box& levels) {
  constexpr Index kMaxTokens = 512;
  std::vector<Handle> handles;
  for (Index n = 0; n < columns.tokens.count() && columns.tokens.count() <= kMaxTokens; ++n) {
    const double x = columns.centre(n) - columns.cell() / 2;
    const double upper = levels.y + 0.3 * levels.height - columns.top;
    handles.push_back({.area = {x, columns.top, columns.cell(), upper},
                       .help = "Click to pin it as the query",
                       .click = [n](Session& session) {
                         session.view.pinned_query = session.view.pinned_query == n ? -1 : n;
                       }});
    handles.push_back(
        {.area = {x, levels.bottom() - 0.3 * levels.height, columns.cell(), 0.3 * levels.height},
         .help = "Click to pin it as the key",
         .click = [n](Session& session) {
           session.view.pinned_key = session.view.pinned_key == n ? -1 : n;
         }});
  }
  return handles;
}

// Draws the size of the receptive field by layer. Returns the lower edge.
double draw_counts(Page& page, const PathPlan& plan, Pair pair, const std::string& query) {
  Box box =
      draw_step(page, plan.left, 2,
                {"Number of tokens that reach " + query, "Tokens that reach the query", "Reached"});
  box.height = std::min(box.height, kMaxCurve * page.em());
  std::vector<Point> points;
  for (Index n = 0; n <= kMaxCounted; ++n) {
    const ReceptiveField field = receptive_field(plan.chain, pair.query, pair.query, n);
    points.push_back(
        {static_cast<double>(n), static_cast<double>(std::ranges::count(field.cone[0], char{1}))});
  }
  ChartAxis x{
      .least = 0, .most = static_cast<double>(kMaxCounted), .titles = {"layers"}, .whole = true};
  ChartAxis y = padded_axis(0, static_cast<double>(plan.chain.length()), true);
  y.titles = {"reached tokens", "tokens"};
  y.whole = true;
  const Chart chart = place_chart(page, box, std::move(x), std::move(y));
  if (chart.empty()) return plan.left.y;
  draw_chart(page, chart);
  draw_curve(page, chart, points, page.theme().accent, 2.5);
  for (const Point& p : points) {
    const double r = 0.25 * page.em();
    page.add(FilledBox{
        {chart.at_x(p.x) - r, chart.at_y(p.y) - r, 2 * r, 2 * r}, page.theme().accent, r});
  }
  return box.bottom();
}

MechanismLayout draw_paths(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<LayerChain> chain =
      LayerChain::create(in.input.trace, in.input.part(), head_in_layer(in));
  if (!chain) return {.refusal = kNoPaths};
  std::optional<PathPlan> plan = plan_paths(page, inside, in, std::move(*chain));
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [columns = plan->columns, levels = plan->levels, initial = plan->initial,
                    map_pair_at = pair_at(plan->reach)](Point p) -> std::optional<Pair> {
    const Index token = columns.at(p.x);
    const bool is_upper = p.y < levels.y + 0.3 * levels.height;
    if (token >= 0 && p.y >= columns.top && is_upper) return Pair{token, initial.key};
    const bool is_lower = p.y >= levels.bottom() - 0.3 * levels.height && p.y < levels.bottom();
    if (token >= 0 && is_lower) return Pair{initial.query, token};
    const auto [query, key] = map_pair_at(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
  const std::optional<Point>& pointer = in.input.interaction.pointer;
  const Pair pair = pointer ? layout.pair_at(*pointer).value_or(plan->initial) : plan->initial;
  const std::vector<std::string> labels = query_axis(in.input.trace, in.tap).labels;
  const auto name = [&](Index n) {
    return "“" + labels[static_cast<std::size_t>(n)] + "” (" + std::to_string(n) + ")";
  };
  const ReceptiveField field = receptive_field(plan->chain, pair.query, pair.key, plan->layers);
  draw_step(page, plan->sentence, 1, describe_path(field, name(pair.query), name(pair.key)));
  draw_columns(page, plan->columns, pair.key);
  draw_layers(page, plan->columns, plan->levels, plan->chain, field, pair, inside.x);
  layout.handles = path_handles(plan->columns, plan->levels);
  layout.bottom = plan->levels.bottom();
  if (!(plan->reach.plot.width > 0)) return layout;
  const double curve_bottom = draw_counts(page, *plan, pair, name(pair.query));
  draw_reach_map(page, plan->right, plan->reach, in.input, plan->layers, 3, pair);
  layout.bottom = std::max(plan->reach.bottom(page), curve_bottom);
  return layout;
}

std::vector<ViewData::Matrix> path_numbers(const HeadInput& in) {
  const std::optional<LayerChain> chain =
      LayerChain::create(in.input.trace, in.input.part(), head_in_layer(in));
  if (!chain) throw InputError(kNoPaths);
  const std::vector<std::string> labels = query_axis(in.input.trace, in.tap).labels;
  return {{"layers until reached", cached_reach(in.input, chain->shown_layers()), labels, labels}};
}

}  // namespace

Mechanism paths_mechanism() {
  Mechanism m{"paths", "paths of information between tokens through the layers", has_paths,
              draw_paths, path_numbers};
  m.label = "Paths";
  m.objection = [](const AttentionTap&) -> std::string { return kNoPaths; };
  return m;
}

}  // namespace attnscope
