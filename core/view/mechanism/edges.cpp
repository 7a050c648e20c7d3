// Graph attention: nodes in a row with an arc for each edge, the neighbours of one node, and the
// receptive field by layer.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/figure/plain_text.h"
#include "core/view/graph/graph_edges.h"
#include "core/view/mechanism/layer_figure.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/rule_line.h"
#include "core/view/mechanism/sorted_map.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr double kLabelFraction = 0.14;  // fraction of the height for token labels
constexpr double kArcFraction = 0.3;     // maximum depth of arcs as a fraction of the height
constexpr double kMinArcs = 5;           // em
constexpr double kMaxArcs = 16;          // em
constexpr double kMinEdgesMap = 9;       // em
constexpr double kNamedEdgesMap = 30;    // em: minimum height of a map with token labels
constexpr double kMapFraction = 0.54;    // fraction of the width, for a map and its colour bar
constexpr std::size_t kMaxArcLines = 4000;

// True if node i has the children 2i + 1 and 2i + 2. A causal tree has only edges to parents.
bool is_binary_tree(const AttentionTap& tap, const GraphEdges& edges) {
  std::vector<Edge> tree;
  for (Index child = 1; child < tap.queries(); ++child) {
    tree.emplace_back(child, (child - 1) / 2);
    if (!tap.causal) tree.emplace_back((child - 1) / 2, child);
  }
  std::ranges::sort(tree);
  return tap.queries() > 2 && edges.pairs == tree;
}

struct GraphText {
  std::string full, brief;
};

GraphText describe_graph(const AttentionTap& tap, const GraphEdges& edges) {
  const std::string from = tap.variant.values.choice("from");
  if (from == "chain") {
    return {"a chain, in which each token is connected to its neighbours", "a chain"};
  }
  if (from == "brackets") {
    return {"pairs of brackets and quotation marks in the text", "brackets of the text"};
  }
  if (is_binary_tree(tap, edges)) {
    return {"a binary tree: children of token i are 2i + 1 and 2i + 2", "a binary tree"};
  }
  const Index pairs = tap.queries() * (tap.queries() - 1) / (tap.causal ? 2 : 1);
  if (static_cast<Index>(edges.pairs.size()) == pairs) {
    return {"a complete graph, in which each token is connected to every other",
            "a complete graph"};
  }
  if (from == "edges") return {"a list of drawn edges", "drawn edges"};
  return {"an adjacency matrix", "a matrix of edges"};
}

struct EdgesPlan {
  Box sentence{}, arcs{}, left{}, right{};  // left and right include their sentences
  double max_depth = 0;                     // depth of the longest possible arc
  TokenColumns columns{};
  std::optional<LayerChain> chain{};
  Index layers = 1;
  MatrixPlot map{}, reach{};  // `reach` is empty if there are no paths
};

// Depth of an arc. Longer arcs are deeper, so that nested arcs do not touch.
double arc_depth(const TokenColumns& columns, double max_depth, const Edge& edge) {
  const double radius = std::abs(columns.centre(edge.second) - columns.centre(edge.first)) / 2;
  return std::min(radius, max_depth * std::sqrt(2 * radius / columns.width));
}

std::optional<EdgesPlan> plan_edges(const Page& page, const Box& inside, const HeadInput& in,
                                    const GraphEdges& edges) {
  const double em = page.em(), step = step_height(page);
  EdgesPlan plan;
  plan.sentence = {inside.x, inside.y, inside.width, step};
  TokenAxis tokens = query_axis(in.input.trace, in.tap);
  tokens.titles = {};
  plan.columns = place_columns(page, {inside.x, inside.y + step, inside.width, 0}, tokens,
                               kLabelFraction * inside.height);
  plan.max_depth = std::clamp(kArcFraction * inside.height, kMinArcs * em, kMaxArcs * em);
  double deepest = 0;
  for (const Edge& edge : edges.pairs) {
    deepest = std::max(deepest, arc_depth(plan.columns, plan.max_depth, edge));
  }
  plan.arcs = {plan.columns.left, plan.columns.bottom(), plan.columns.width, deepest + 1.4 * em};
  const Box area = below(inside, plan.arcs.bottom() - inside.y + 0.8 * em);
  plan.chain = LayerChain::create(in.input.trace, in.input.part(), head_in_layer(in));
  if (plan.chain) {
    plan.layers = layers_to_show(in.input, *plan.chain);
    std::tie(plan.left, plan.right) = split(page, area, kMapFraction);
  } else {
    plan.left = area;
  }
  const auto axes = [&](double height) {
    std::pair<TokenAxis, TokenAxis> tokens_axes{query_axis(in.input.trace, in.tap),
                                                key_axis(in.input.trace, in.tap)};
    if (height >= kNamedEdgesMap * em) return tokens_axes;
    return std::pair(with_index_labels(std::move(tokens_axes.first)),
                     with_index_labels(std::move(tokens_axes.second)));
  };
  const Box map_box = below(plan.left, step);
  if (map_box.height < kMinEdgesMap * em) return {};
  auto [rows, columns] = axes(map_box.height);
  plan.map = place_matrix(page, map_box, rows, columns, colour_bar_width(page));
  if (!(plan.map.plot.width > 0)) return {};
  if (!plan.chain) return plan;
  const double legend_space = reach_legend_height(page, plan.layers, plan.right.width);
  const Box reach_box = below(plan.right, step + legend_space);
  if (reach_box.height >= kMinEdgesMap * em) {
    plan.reach = place_matrix(page, reach_box, rows, columns, 0);
  }
  return plan;
}

// Half an ellipse below the line of nodes.
Line arc_between(const EdgesPlan& plan, const Edge& edge, double y, Colour colour,
                 double thickness) {
  const double a = plan.columns.centre(edge.second), b = plan.columns.centre(edge.first);
  const double depth = arc_depth(plan.columns, plan.max_depth, edge);
  Line line{{}, colour, thickness};
  for (int n = 0; n <= 32; ++n) {
    const double angle = std::numbers::pi * n / 32;
    line.points.push_back(
        {(a + b) / 2 + (a - b) / 2 * std::cos(angle), y + depth * std::sin(angle)});
  }
  return line;
}

void draw_graph_arcs(Page& page, const EdgesPlan& plan, const GraphEdges& edges, Index query) {
  const double em = page.em(), y = plan.arcs.y + 0.6 * em;
  const bool has_too_many = edges.pairs.size() > kMaxArcLines;
  std::vector<char> is_attended(static_cast<std::size_t>(plan.columns.tokens.count()), 0);
  for (const auto& [from, to] : edges.pairs) {
    if (from == query) is_attended[static_cast<std::size_t>(to)] = 1;
    const bool is_mutual = std::ranges::binary_search(edges.pairs, Edge(to, from));
    if (has_too_many || from == query || to == query || (is_mutual && from < to)) continue;
    page.add(arc_between(plan, {from, to}, y, translucent(page.theme().text, 0.4), 1.3));
  }
  for (const auto& edge : edges.pairs) {
    const bool is_mutual = std::ranges::binary_search(edges.pairs, Edge(edge.second, edge.first));
    if (edge.first == query) {
      page.add(arc_between(plan, edge, y, query_colour(page.theme()), 0.24 * em));
    } else if (edge.second == query && !is_mutual && !has_too_many) {  // an edge to the query
      page.add(arc_between(plan, edge, y, translucent(page.theme().text, 0.4), 1.3));
    }
  }
  const double radius = std::min(0.4 * em, 0.42 * plan.columns.cell());
  for (Index n = 0; n < plan.columns.tokens.count(); ++n) {
    const Colour fill = n == query ? query_colour(page.theme())
                        : is_attended[static_cast<std::size_t>(n)] != 0
                            ? key_colour(page.theme())
                            : blend(page.theme().background, page.theme().text, 0.55);
    page.add(disc({plan.columns.centre(n), y}, radius, fill));
  }
}

Index neighbour_count(const GraphEdges& edges, Index node) {
  return std::ranges::count(edges.pairs, node, &Edge::first);
}

std::vector<std::string> describe_edges(const HeadInput& in, const GraphEdges& edges, Index query) {
  const std::string name = "“" + query_label(in.input.trace, in.tap, query) + "”";
  const Index count = neighbour_count(edges, query);
  const std::string attends = count == 0
                                  ? " attends only to itself"
                                  : " attends to itself and " + std::to_string(count) +
                                        (count == 1 ? " connected token" : " connected tokens");
  const auto [full, brief] = describe_graph(in.tap, edges);
  return {"Tokens attend along the edges of " + full + ". " + name + attends,
          "Along the edges of " + brief + ": " + name + attends, name + attends + ": " + brief,
          "Edges: " + brief, brief};
}

std::string describe_weights(const AttentionTap& tap) {
  const std::string mode = tap.variant.values.choice("mode");
  if (mode == "additive") return "by the additive score of both ends";
  if (mode != "convolution") return "by the product of query and key";
  return tap.variant.values.choice("normalise") == "symmetric"
             ? "1 over the square root of both ends' degrees"
             : "uniform, 1 over the degree";
}

std::vector<Handle> edges_handles(const EdgesPlan& plan) {
  constexpr Index kLimit = 512;
  std::vector<Handle> handles;
  for (Index n = 0; n < plan.columns.tokens.count() && plan.columns.tokens.count() <= kLimit; ++n) {
    const double x = plan.columns.centre(n) - plan.columns.cell() / 2;
    handles.push_back(
        {.area = {x, plan.columns.top, plan.columns.cell(), plan.arcs.y - plan.columns.top + 16},
         .help = "Click to pin it as the query",
         .click = [n](Session& session) {
           session.view.pinned_query = session.view.pinned_query == n ? -1 : n;
         }});
  }
  return handles;
}

MechanismLayout draw_graph_mechanism(Page& page, const Box& inside, const HeadInput& in) {
  const GraphEdges edges = edges_of(in.tap, in.head);
  std::optional<EdgesPlan> plan = plan_edges(page, inside, in, edges);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [map_pair_at = pair_at(plan->map), reach = pair_at(plan->reach),
                    columns = plan->columns, arcs = plan->arcs](Point p) -> std::optional<Pair> {
    for (const PairAt& map : {map_pair_at, reach}) {
      if (const auto [query, key] = map(p); query >= 0 && key >= 0) return Pair{query, key};
    }
    const Index token = columns.at(p.x);
    if (token < 0 || p.y < columns.top || p.y >= arcs.bottom()) return std::nullopt;
    return Pair{token, token};
  };
  // Without a selection, shows a node that has neighbours on both sides.
  const ViewSettings& settings = in.input.session.view;
  std::optional<Pair> hovered;
  if (in.input.interaction.pointer) hovered = layout.pair_at(*in.input.interaction.pointer);
  if (!hovered && settings.pinned_query < 0) hovered = Pair{in.tap.queries() / 3, -1};
  const Pair pair = focus_of(in.input, in.tap, in.head, hovered);
  draw_step(page, plan->sentence, 1, describe_edges(in, edges, pair.query));
  draw_columns(page, plan->columns, pair.key);
  draw_graph_arcs(page, *plan, edges, pair.query);
  draw_step(page, plan->left, 2,
            {"The weights of its edges: " + describe_weights(in.tap), "The weights of its edges",
             "Weights"});
  plan->map.pinned_row = pair.query;
  plan->map.pinned_column = pair.key;
  const ColourRange range =
      draw_sorted_weights(page, in, plan->map, in_text_order(in.tap.queries()),
                          in_text_order(in.tap.keys()), CacheKey("edge weights"));
  draw_matrix_frame(page, plan->map, {"more pairs than pixels", "pooled"});
  draw_colour_bar(page, plan->map.right, range, {"weight", ""});
  layout.bottom = plan->map.bottom(page);
  layout.handles = edges_handles(*plan);
  if (!(plan->reach.plot.width > 0)) return layout;
  draw_reach_map(page, plan->right, plan->reach, in.input, plan->layers, 3, pair);
  layout.bottom = std::max(layout.bottom, plan->reach.bottom(page));
  return layout;
}

std::vector<ViewData::Matrix> edge_numbers(const HeadInput& in) {
  const GraphEdges edges = edges_of(in.tap, in.head);
  const Tensor weights = in.tap.attention(in.head);
  Tensor table({static_cast<Index>(edges.pairs.size()), 3});
  for (Index n = 0; n < table.dim(0); ++n) {
    const auto [query, key] = edges.pairs[static_cast<std::size_t>(n)];
    table(n, 0) = static_cast<float>(query);
    table(n, 1) = static_cast<float>(key);
    table(n, 2) = weights(query, key);
  }
  return {{"edges", table, {}, {"query", "key", "weight"}}};
}

bool is_small_graph(const AttentionTap& tap) {
  return is_graph(tap) && tap.queries() == tap.keys() && tap.queries() <= kMaxNodes &&
         tap.query_rows.stream == tap.key_rows.stream;
}

}  // namespace

Mechanism edges_mechanism() {
  Mechanism m{"edges", "a graph whose edges tokens attend along", is_small_graph,
              draw_graph_mechanism, edge_numbers};
  m.label = "Edges";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
