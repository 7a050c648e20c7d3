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
  bool is_directed = false;  // a pair allows one direction only, not because of causality
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
// Edges of a head: those of the parameter `edges` if set, else those of its pattern. Edges of
// causal patterns count in both directions.
EdgeChoice edge_choice(const AttentionTap& tap, Index head);

// Adds the edge, or removes it if present. Unless `is_directed`, both directions are the same edge.
std::vector<std::vector<Index>> toggle_edge(const std::vector<std::vector<Index>>& edges,
                                            bool is_directed, const Edge& edge);

}  // namespace attnscope
