// Edges between tokens that attend to each other, and their editing.
#pragma once

#include <vector>

#include "core/experiment/mask_and_graph.h"
#include "core/trace/trace.h"
#include "core/view/graph/node_layout.h"

namespace attnscope {

// Pairs of different tokens that a pattern allows.
struct GraphEdges {
  std::vector<Edge> pairs;  // ascending
  bool one_way = false;     // some pair allows one direction only; false if causal
};
GraphEdges edges_of(const AttentionTap& tap, Index head);

// Maximum number of tokens in a graph.
inline constexpr Index kMaxNodes = 200;

// True for the variant `graph`, whose edges can be drawn.
bool is_graph(const AttentionTap& tap);

// Edges as parameters of the variant `graph`.
struct EdgeChoice {
  std::vector<std::vector<Index>> edges;
  bool one_way = false;
};
// Edges of a head: the drawn ones if it has any, else those of its pattern. Edges of causal
// patterns count in both directions.
EdgeChoice edge_choice(const AttentionTap& tap, Index head);

// Adds the edge, or removes it if present; unless `one_way`, both directions are the same edge.
std::vector<std::vector<Index>> toggled(const std::vector<std::vector<Index>>& edges, bool one_way,
                                        const Edge& edge);

}  // namespace attnscope
