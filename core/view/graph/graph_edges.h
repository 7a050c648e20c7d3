// Edges that a head attends along, and their editing.
#pragma once

#include <vector>

#include "core/experiment/mask_and_graph.h"
#include "core/trace/trace.h"
#include "core/view/graph/node_layout.h"

namespace attnscope {

// Pairs of different tokens that a pattern allows.
struct GraphEdges {
  std::vector<Edge> pairs;  // ascending
  bool one_way = false;     // some pair is allowed in one direction only, though both are possible
};
GraphEdges edges_of(const AttentionTap& tap, Index head);

// Limit of tokens that remain distinguishable.
inline constexpr Index kMaxNodes = 200;

// True for the variant `graph`, whose edges can be drawn.
bool is_graph(const AttentionTap& tap);

struct EdgeChoice {
  std::vector<std::vector<Index>> edges;
  bool one_way = false;
};
// Edges that a head attends along: as drawn, if they were, else those of its pattern; for causal
// patterns in both directions.
EdgeChoice edge_choice(const AttentionTap& tap, Index head);

// Adds the edge to the list, or removes it if present; `one_way` is kept.
std::vector<std::vector<Index>> toggled(const std::vector<std::vector<Index>>& edges, bool one_way,
                                        const Edge& edge);

}  // namespace attnscope
