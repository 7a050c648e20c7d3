// The edges that a head attends along, and drawing others.
#pragma once

#include <vector>

#include "core/experiment/drawn.h"
#include "core/trace/trace.h"
#include "core/view/graph/node_layout.h"

namespace attnscope {

// Pairs of different tokens that a pattern allows.
struct GraphEdges {
  std::vector<Edge> pairs;  // ascending
  bool one_way = false;     // some pair is allowed in one direction alone, where both could be
};
GraphEdges edges_of(const AttentionTap& tap, Index head);

// More tokens are too many to be told apart, and their edges to be drawn.
inline constexpr Index kMostNodes = 200;

// Whether the head attends along drawn or drawable edges: the variant `graph`.
bool is_graph(const AttentionTap& tap);

struct EdgeChoice {
  std::vector<std::vector<Index>> edges;
  bool one_way = false;
};
// The list of edges that stands for what a head attends along now: as it was drawn, where it was,
// else those of its pattern; of a causal one those in both directions.
EdgeChoice edge_choice(const AttentionTap& tap, Index head);

// The list with that edge, or without it where it is there already; `one_way` as it is.
std::vector<std::vector<Index>> toggled(const std::vector<std::vector<Index>>& edges, bool one_way,
                                        const Edge& edge);

}  // namespace attnscope
