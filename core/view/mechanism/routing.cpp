// Routing: queries and keys are assigned to the nearest centroid and attend within its cluster.
#include <algorithm>

#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/sorted_map.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_strip.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {
namespace {

constexpr Index kMaxRouted = 2048;        // tokens
constexpr double kRoutedFraction = 0.24;  // fraction of the height: strip with labels
constexpr double kLoadFraction = 0.42;    // fraction of the space below the strip for the bars
constexpr double kMinRoutedMap = 9;       // em
constexpr double kMinLoad = 6;            // em
constexpr double kMaxLoad = 26;           // em
constexpr double kKeyOpacity = 0.5;       // opacity of the bars of keys
constexpr Index kMaxClusterNames = 40;    // more clusters have ticks instead of names

bool shows_clusters(const AttentionTap& tap) {
  const auto& counts = tap.result.extra_counts;
  const auto query = counts.find("routing.query_cluster");  // [h, L]
  const auto key = counts.find("routing.key_cluster");
  return query != counts.end() && key != counts.end() && query->second.dim(1) == tap.queries() &&
         key->second.dim(1) == tap.keys() && tap.queries() == tap.keys() &&
         tap.queries() <= kMaxRouted;
}

struct Routes {
  std::vector<Index> query, key;  // cluster of each token
  TokenOrder queries, keys;
  Index clusters = 0;
  bool is_shared() const { return query == key; }
};

Routes head_routes(const HeadInput& in) {
  Routes routes;
  const auto& counts = in.tap.result.extra_counts;
  const auto row = [&](const char* name) {
    const IntTensor& clusters = counts.at(name);
    std::vector<Index> result;
    for (Index i = 0; i < clusters.dim(1); ++i) result.push_back(clusters(in.head, i));
    return result;
  };
  routes.query = row("routing.query_cluster");
  routes.key = row("routing.key_cluster");
  routes.queries = sorted_by(routes.query);
  routes.keys = sorted_by(routes.key);
  routes.clusters = in.tap.variant.values.integer("clusters");
  for (const std::vector<Index>* side : {&routes.query, &routes.key}) {
    for (const Index c : *side) routes.clusters = std::max(routes.clusters, c + 1);
  }
  return routes;
}

std::vector<std::string> side_names(const Routes& routes) {
  if (routes.is_shared()) return {"query = key"};
  return {"query", "key"};
}

// Clusters of queries and keys, one row each; a single row if queries and keys have equal clusters.
Tensor cluster_rows(const Routes& routes) {
  const auto length = static_cast<Index>(routes.query.size());
  Tensor rows({routes.is_shared() ? 1 : 2, length});
  for (Index i = 0; i < length; ++i) {
    rows(0, i) = static_cast<float>(routes.query[static_cast<std::size_t>(i)]);
    if (!routes.is_shared()) {
      rows(1, i) = static_cast<float>(routes.key[static_cast<std::size_t>(i)]);
    }
  }
  return rows;
}

// Number of queries and keys in each cluster.  [1 or 2, clusters]
Tensor cluster_loads(const Routes& routes) {
  const Tensor rows = cluster_rows(routes);
  Tensor result = Tensor::zeros({rows.dim(0), routes.clusters});
  for (Index side = 0; side < rows.dim(0); ++side) {
    for (Index i = 0; i < rows.dim(1); ++i) result(side, static_cast<Index>(rows(side, i))) += 1;
  }
  return result;
}

struct RoutingPlan {
  Routes routes;
  TokenStrip strip;
  Box sentence, bars, attend;  // bars and attend include their sentences
  MatrixPlot map;
};

std::optional<RoutingPlan> plan_routing(const Page& page, const Box& inside, const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  const Routes routes = head_routes(in);
  const Tensor rows = cluster_rows(routes);
  TokenAxis tokens = query_axis(in.input.trace, in.tap);
  tokens.titles = {};
  RoutingPlan plan{
      routes,
      place_strip(page, {inside.x, inside.y + step, inside.width, kRoutedFraction * inside.height},
                  tokens, side_names(routes), rows, KindColours(rows)),
      {inside.x, inside.y, inside.width, step},
      {},
      {},
      {}};
  if (!(plan.strip.cells.width > 0)) return {};
  const Box area = below(inside, plan.strip.bottom() - inside.y + 0.5 * em);
  std::tie(plan.bars, plan.attend) = split(page, area, kLoadFraction);
  const Box map_box = below(plan.attend, step);
  if (map_box.height < kMinRoutedMap * em || plan.bars.height < step + kMinLoad * em) return {};
  plan.map = place_matrix(
      page, map_box, reordered(query_axis(in.input.trace, in.tap), routes.queries),
      reordered(key_axis(in.input.trace, in.tap), routes.keys), colour_bar_width(page));
  if (!(plan.map.plot.width > 0)) return {};
  return plan;
}

void draw_loads(Page& page, const RoutingPlan& plan) {
  const Tensor load = cluster_loads(plan.routes);
  const bool is_shared = plan.routes.is_shared();
  Box box = draw_step(
      page, plan.bars, 2,
      {is_shared ? "Count: tokens of each cluster"
                 : "Count: queries (left bars) and keys (pale) of each cluster",
       is_shared ? "Count: the load of each cluster" : "Count: queries, keys (pale)", "Count"});
  box.height = std::min(box.height, kMaxLoad * page.em());
  ChartAxis x{.least = -0.5,
              .most = static_cast<double>(plan.routes.clusters) - 0.5,
              .titles = {"cluster"},
              .whole = true};
  for (Index c = 0; c < plan.routes.clusters && plan.routes.clusters <= kMaxClusterNames; ++c) {
    x.names.emplace_back(static_cast<double>(c), std::to_string(c));
  }
  const float max_load = *std::max_element(load.begin(), load.end());
  ChartAxis y = padded_axis(0, static_cast<double>(max_load), true);
  y.titles = {"tokens"};
  y.whole = true;
  const Chart chart = place_chart(page, box, std::move(x), std::move(y));
  if (chart.empty()) return;
  draw_chart(page, chart);
  const auto sides = static_cast<double>(load.dim(0));
  for (Index side = 0; side < load.dim(0); ++side) {
    for (Index c = 0; c < load.dim(1); ++c) {
      const double centre =
          static_cast<double>(c) - 0.4 + 0.8 * (static_cast<double>(side) + 0.5) / sides;
      const Colour colour = plan.strip.colours(c);
      draw_bar(page, chart, centre, 0.8 / sides, static_cast<double>(load(side, c)),
               side == 0 ? colour : translucent(colour, kKeyOpacity));
    }
  }
}

void draw_sorted_map(Page& page, RoutingPlan& plan, const HeadInput& in, Index marked) {
  const Routes& routes = plan.routes;
  const auto token = static_cast<std::size_t>(marked);
  const Index cluster = routes.query[token];
  const std::string keys = std::to_string(std::ranges::count(routes.key, cluster));
  const Pattern& pattern = *in.tap.result.pattern;
  const std::string attended_count =
      std::to_string(pattern.row_size(pattern.heads() > 1 ? in.head : 0, marked));
  const std::string name =
      "“" + query_label(in.input.trace, in.tap, marked) + "” (" + std::to_string(marked) + ")";
  draw_step(page, plan.attend, 3,
            {"Attend within a cluster: " + name + " attends to " + attended_count + " of the " +
                 keys + " keys in cluster " + std::to_string(cluster),
             name + " attends to " + attended_count + " keys of cluster " + std::to_string(cluster),
             "Attend within a cluster", "Attend"});
  plan.map.pinned_row = routes.queries.place[token];
  plan.map.pinned_column = routes.keys.place[token];
  const ColourRange range =
      draw_sorted_weights(page, in, plan.map, routes.queries, routes.keys, CacheKey("routing"));
  outline_blocks(page, plan.map, routes.query, routes.key, plan.strip.colours);
  draw_matrix_frame(page, plan.map, {"more pairs than pixels", "pooled"});
  draw_colour_bar(page, plan.map.right, range, {"weight, tokens sorted by cluster", "weight", ""});
}

MechanismLayout draw_routing(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<RoutingPlan> plan = plan_routing(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [queries = plan->routes.queries, keys = plan->routes.keys,
                    map_pair_at = pair_at(plan->map)](Point p) -> std::optional<Pair> {
    const Pair pair = sorted_pair_at(map_pair_at, queries, keys, p);
    if (pair.query < 0) return std::nullopt;
    return pair;
  };
  Index marked = -1;
  if (const std::optional<Point>& p = in.input.interaction.pointer) {
    marked = plan->strip.at(*p);
    if (const auto pair = layout.pair_at(*p); marked < 0 && pair) marked = pair->query;
  }
  if (marked < 0) marked = focus_of(in.input, in.tap, in.head).query;
  draw_step(page, plan->sentence, 1,
            {"Assign: every query and key belongs to the nearest of " +
                 std::to_string(plan->routes.clusters) + " centroids (colour)",
             "Assign each token to the nearest centroid (colour)", "Assign to clusters"});
  draw_strip(page, plan->strip, marked);
  draw_loads(page, *plan);
  draw_sorted_map(page, *plan, in, marked);
  layout.bottom = std::max(plan->map.bottom(page), plan->bars.bottom());
  return layout;
}

std::vector<ViewData::Matrix> routing_numbers(const HeadInput& in) {
  const Routes routes = head_routes(in);
  const std::vector<std::string> labels = query_axis(in.input.trace, in.tap).labels;
  std::vector<std::string> clusters;
  for (Index c = 0; c < routes.clusters; ++c) clusters.push_back(std::to_string(c));
  return {{"cluster", cluster_rows(routes), side_names(routes), labels, {"side"}},
          {"tokens in each cluster", cluster_loads(routes), side_names(routes), clusters, {"side"}},
          {"weight, sorted", reordered(in.tap.attention(in.head), routes.queries, routes.keys),
           reordered(query_axis(in.input.trace, in.tap), routes.queries).labels,
           reordered(key_axis(in.input.trace, in.tap), routes.keys).labels}};
}

}  // namespace

Mechanism routing_mechanism() {
  Mechanism m{"routing", "tokens that share the clusters of a few centroids", shows_clusters,
              draw_routing, routing_numbers};
  m.label = "Clusters";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
