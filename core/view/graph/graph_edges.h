// Edges between tokens that attend to each other, and their editing.
#pragma once

#include <vector>

#include "core/experiment/mask_and_graph.h"
#include "core/trace/trace.h"
#include "core/view/graph/node_layout.h"

namespace attnscope {

// Pairs of different tokens that a pattern allows.
struct GraphEdges {
  std::vector<Edge> pairs;   // ascending
  bool is_directed = false;  // some pair has one direction only, and not because of causality
};
GraphEdges edges_of(const AttentionTap& tap, Index head);

inline constexpr Index kMaxNodes = 200;

// True for the variant `graph`, whose edges can be drawn.
bool is_graph(const AttentionTap& tap);

// Edges as parameters of the variant `graph`.
struct EdgeChoice {
  std::vector<std::vector<Index>> edges;
  bool is_directed = false;
};
// Edges of a head: the parameter `edges` if set, else the edges of the head's pattern. An edge of a
// causal pattern counts in both directions.
EdgeChoice edge_choice(const AttentionTap& tap, Index head);

// `edges` with the edge added, or removed if present. Unless `is_directed`, direction is ignored.
std::vector<std::vector<Index>> toggle_edge(const std::vector<std::vector<Index>>& edges,
                                            bool is_directed, const Edge& edge);

}  // namespace attnscope
