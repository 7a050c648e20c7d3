#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

#include "core/view/graph/graph_edges.h"
#include "core/view/view.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Lists = std::vector<std::vector<Index>>;

TEST(NodeLayout, KeepsNodesApartWithinTheSquare) {
  const std::vector<Edge> edges{{0, 1}, {1, 2}, {2, 3}, {0, 4}};
  for (const char* layout : {"line", "circle", "springs"}) {
    for (const Index nodes : {1, 2, 5, 30}) {
      std::vector<Edge> existing;
      for (const Edge& e : edges) {
        if (std::max(e.first, e.second) < nodes) existing.push_back(e);
      }
      const std::vector<Point> places = node_places(layout, nodes, existing);
      ASSERT_EQ(places.size(), static_cast<std::size_t>(nodes));
      for (std::size_t a = 0; a < places.size(); ++a) {
        EXPECT_TRUE(places[a].x >= 0 && places[a].x <= 1 && places[a].y >= 0 && places[a].y <= 1);
        for (std::size_t b = 0; b < a; ++b) {
          EXPECT_GT(std::hypot(places[a].x - places[b].x, places[a].y - places[b].y), 1e-3)
              << layout << " " << a << ", " << b;
        }
      }
    }
  }
}

TEST(NodeLayout, SpringsPullNeighboursTogether) {
  std::vector<Edge> chain;
  for (Index n = 0; n + 1 < 12; ++n) chain.emplace_back(n, n + 1);
  const std::vector<Point> places = node_places("springs", 12, chain);
  const auto distance = [&](std::size_t a, std::size_t b) {
    return std::hypot(places[a].x - places[b].x, places[a].y - places[b].y);
  };
  for (std::size_t n = 0; n + 1 < 12; ++n) EXPECT_LT(distance(n, n + 1), distance(0, 11));
}

// Reference implementation of the Fruchterman-Reingold layout with complex numbers. Nodes repel
// each other with k^2 / distance, edges attract with distance^2 / k, and `heat` limits each move.
std::vector<std::complex<double>> reference_springs(std::size_t nodes,
                                                    const std::vector<Edge>& edges) {
  const double k = 1 / std::sqrt(static_cast<double>(nodes));
  std::vector<std::complex<double>> places;
  for (const Point& p : node_places("circle", static_cast<Index>(nodes), {})) {
    places.emplace_back(p.x, p.y);
  }
  for (int round = 0; round < 200; ++round) {
    std::vector<std::complex<double>> forces(nodes);
    for (std::size_t a = 0; a < nodes; ++a) {
      for (std::size_t b = 0; b < nodes; ++b) {
        if (a == b) continue;
        const std::complex<double> offset = places[a] - places[b];
        forces[a] += offset / std::abs(offset) * k * k / std::abs(offset);
      }
    }
    for (const auto& [from, to] : edges) {
      const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
      const std::complex<double> offset = places[b] - places[a];
      const double size = std::norm(offset) / k;
      forces[a] += offset / std::abs(offset) * size;
      forces[b] -= offset / std::abs(offset) * size;
    }
    const double heat = 0.1 * (200 - round) / 200;
    for (std::size_t n = 0; n < nodes; ++n) {
      const double size = std::abs(forces[n]);
      places[n] += forces[n] / size * std::min(size, heat);
    }
  }
  return places;
}

TEST(NodeLayout, SpringsSettleAtForceEquilibrium) {
  constexpr double kTolerance = 0.03;  // oscillation amplifies rounding differences
  const std::vector<Edge> kGraphs[] = {{{0, 1}, {1, 2}},
                                       {{0, 1}, {1, 2}, {2, 0}},
                                       {{0, 1}, {1, 2}, {2, 3}},
                                       {{0, 1}, {0, 2}, {0, 3}},
                                       {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
                                       {{0, 1}, {0, 2}, {0, 3}, {0, 4}},
                                       {{0, 1}, {1, 2}, {2, 3}, {3, 4}}};
  for (const std::vector<Edge>& edges : kGraphs) {
    Index nodes = 0;
    for (const Edge& e : edges) nodes = std::max({nodes, e.first + 1, e.second + 1});
    const std::vector<std::complex<double>> expected =
        reference_springs(static_cast<std::size_t>(nodes), edges);
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    for (const std::complex<double>& p : expected) {
      left = std::min(left, p.real());
      right = std::max(right, p.real());
      top = std::min(top, p.imag());
      bottom = std::max(bottom, p.imag());
    }
    const std::vector<Point> places = node_places("springs", nodes, edges);
    for (std::size_t n = 0; n < places.size(); ++n) {
      EXPECT_NEAR(places[n].x, (expected[n].real() - left) / (right - left), kTolerance)
          << nodes << " nodes, " << edges.size() << " edges, " << n;
      EXPECT_NEAR(places[n].y, (expected[n].imag() - top) / (bottom - top), kTolerance)
          << nodes << " nodes, " << edges.size() << " edges, " << n;
    }
  }
}

TEST(GraphEdges, ToggleAddsOrRemovesEdge) {
  const Lists edges{{0, 1}, {2, 1}};
  EXPECT_EQ(toggle_edge(edges, false, {1, 2}), (Lists{{0, 1}}));
  EXPECT_EQ(toggle_edge(edges, true, {1, 2}), (Lists{{0, 1}, {2, 1}, {1, 2}}));
  EXPECT_EQ(toggle_edge(edges, true, {2, 1}), (Lists{{0, 1}}));
  EXPECT_EQ(toggle_edge(edges, false, {0, 2}), (Lists{{0, 1}, {2, 1}, {0, 2}}));
}

// A causal pattern allows only one direction of each edge.
TEST(GraphEdges, MatchCurrentPattern) {
  testing::TracedModel causal{.variant = R"({"type": "graph", "from": "chain"})", .length = 5};
  for (const bool is_causal : {true, false}) {
    causal.causal = is_causal;
    const Trace trace = testing::run_model(causal);
    const AttentionTap& tap = trace.attention[0];
    const EdgeChoice choice = edge_choice(tap, 0);
    EXPECT_FALSE(choice.is_directed);
    ASSERT_EQ(choice.edges.size(), 4u);
    for (const auto& e : choice.edges) EXPECT_EQ(std::abs(e[0] - e[1]), 1);
    EXPECT_EQ(edges_of(tap, 0).pairs.size(), is_causal ? 4u : 8u);
  }
}

TEST(GraphView, StrokeBetweenNodesAddsEdge) {
  testing::TracedModel chain{.variant = R"({"type": "graph", "from": "chain"})", .length = 5};
  const Trace trace = testing::run_model(chain);
  testing::LayoutOptions look;
  look.framed = false;
  for (const char* layout : {"circle", "line", "springs"}) {
    look.settings = testing::settings_with(
        "graph", std::string(R"({"layout": ")") + layout + R"(", "tool": "edges"})");
    const ViewLayout view_layout = testing::lay_out_view(trace, "graph", look);
    ASSERT_EQ(view_layout.handles.size(), 1u) << layout;
    // Hit tests yield the positions of the nodes.
    std::vector<std::optional<Point>> nodes(5);
    for (double y = 0; y < look.height; y += 4) {
      for (double x = 0; x < look.width; x += 4) {
        const auto hit = view_layout.hit({x, y});
        if (hit) nodes[static_cast<std::size_t>(hit->query)] = Point{x, y};
      }
    }
    ASSERT_TRUE(nodes[0] && nodes[3]) << layout;
    Session session;
    view_layout.handles[0].stroke({*nodes[0], *nodes[3]}, session);
    ASSERT_TRUE(session.run.variant) << layout;
    EXPECT_EQ(session.run.variant->values.get<Lists>("edges").size(), 5u);
    Session unchanged;
    view_layout.handles[0].stroke({*nodes[0], *nodes[0]}, unchanged);
    EXPECT_EQ(unchanged, Session());
  }
}

// Maximum opacity of the lines thinner than `limit`, without those of arrow heads.
int max_thin_opacity(const DisplayList& list, double limit) {
  int opacity = 0;
  for (const Item& item : list.items) {
    const auto* line = std::get_if<Line>(&item);
    if (line != nullptr && line->points.size() == 2 && line->thickness < limit) {
      opacity = std::max<int>(opacity, line->colour.a);
    }
  }
  return opacity;
}

std::size_t arrow_heads(const DisplayList& list) {
  return static_cast<std::size_t>(std::ranges::count_if(list.items, [](const Item& item) {
    const auto* line = std::get_if<Line>(&item);
    return line != nullptr && line->points.size() == 3;
  }));
}

TEST(GraphView, NegligibleEdgesAreFaintAmongMany) {
  constexpr double kThin = 1;  // pixels
  for (const Index length : {12, 24}) {
    const Trace trace = testing::synthetic_trace(1, 1, length);
    const Tensor weights = trace.attention[0].attention(0);
    float largest = 0;
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < i; ++j) largest = std::max(largest, weights(i, j));
    }
    std::size_t notable = 0, all = 0;
    for (Index i = 0; i < length; ++i) {
      for (Index j = 0; j < i; ++j, ++all) notable += !(weights(i, j) < 0.05F * largest);
    }
    ASSERT_LT(notable, all);
    const DisplayList list = testing::lay_out_view(trace, "graph", {}).list;
    const bool has_many = length == 24;
    EXPECT_EQ(arrow_heads(list), has_many ? notable : all) << length;
    EXPECT_EQ(max_thin_opacity(list, kThin) < 128, has_many) << length;
  }
}

// A token moved in the circle layout keeps its computed position in other layouts.
TEST(GraphView, MovedNodesBelongToOneLayout) {
  const Trace trace =
      testing::run_model({.variant = R"({"type": "graph", "from": "chain"})", .length = 5});
  const auto node_two = [&](const ViewSettings& settings) {
    testing::LayoutOptions look;
    look.framed = false;
    look.settings = settings;
    const ViewLayout layout = testing::lay_out_view(trace, "graph", look);
    for (double y = 0; y < look.height; y += 3) {
      for (double x = 0; x < look.width; x += 3) {
        const auto hit = layout.hit({x, y});
        if (hit && hit->query == 2) return Point{x, y};
      }
    }
    return Point{-1, -1};
  };
  Session session;
  session.view = testing::settings_with("graph", R"({"layout": "circle"})");
  const Point original = node_two(session.view);
  testing::LayoutOptions look;
  look.framed = false;
  look.settings = session.view;
  testing::lay_out_view(trace, "graph", look).handles[0].stroke({original, {350, 360}}, session);
  const Point moved = node_two(session.view);
  EXPECT_GT(std::hypot(moved.x - original.x, moved.y - original.y), 50);
  for (const char* layout : {"line", "springs"}) {
    set_view_value(session.view, "graph", "layout", std::string(layout));
    const Point position = node_two(session.view);
    const Point expected =
        node_two(testing::settings_with("graph", std::string(R"({"layout": ")") + layout + "\"}"));
    EXPECT_NEAR(position.x, expected.x, 1e-9) << layout;
    EXPECT_NEAR(position.y, expected.y, 1e-9) << layout;
  }
  set_view_value(session.view, "graph", "layout", std::string("circle"));
  EXPECT_NEAR(node_two(session.view).x, moved.x, 1e-9);
}

TEST(GraphView, IsLegible) {
  testing::TracedModel chain{.variant = R"({"type": "graph", "from": "chain"})", .length = 9};
  const Trace trace = testing::run_model(chain);
  testing::LayoutOptions look;
  EXPECT_EQ(testing::lay_out_view(trace, "graph", look).refusal, "");
  chain.length = 250;
  EXPECT_TRUE(
      testing::lay_out_view(testing::run_model(chain), "graph").refusal.starts_with("Too many"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
