#include "core/view/graph/graph_edges.h"

#include <algorithm>

#include "core/view/parts/pattern_cells.h"

namespace attnscope {
namespace {

using Lists = std::vector<std::vector<Index>>;

}  // namespace

GraphEdges edges_of(const AttentionTap& tap, Index head) {
  GraphEdges edges;
  const Index tokens = std::min(tap.queries(), tap.keys());
  for (Index i = 0; i < tokens; ++i) {
    for (Index j = 0; j < tokens; ++j) {
      if (i == j || rule_of_pair(tap, head, i, j) < 0) continue;
      edges.pairs.emplace_back(i, j);
      const bool has_reverse = rule_of_pair(tap, head, j, i) >= 0;
      const bool is_future = tap.causal && i > j;  // the reverse would leak future tokens
      edges.is_directed |= !has_reverse && !is_future;
    }
  }
  return edges;
}

bool is_graph(const AttentionTap& tap) {
  return tap.variant.id == kGraph;
}

EdgeChoice edge_choice(const AttentionTap& tap, Index head) {
  const Values& values = tap.variant.values;
  if (is_graph(tap) && values.choice("from") != "matrix" && values.has("edges")) {
    return {values.get<Lists>("edges"), values.flag("one_way")};
  }
  const GraphEdges current = edges_of(tap, head);
  EdgeChoice choice{{}, current.is_directed};
  for (const auto& [i, j] : current.pairs) {
    const bool has_reverse = std::ranges::binary_search(current.pairs, Edge(j, i));
    if (current.is_directed || i < j || !has_reverse) choice.edges.push_back({i, j});
  }
  return choice;
}

Lists toggle_edge(const Lists& edges, bool is_directed, const Edge& edge) {
  const auto [i, j] = edge;
  const auto is_edge = [&](const std::vector<Index>& e) {
    return (e[0] == i && e[1] == j) || (!is_directed && e[0] == j && e[1] == i);
  };
  Lists changed;
  std::ranges::copy_if(edges, std::back_inserter(changed),
                       [&](const auto& e) { return !is_edge(e); });
  if (changed.size() == edges.size()) changed.push_back({i, j});
  return changed;
}

}  // namespace attnscope
