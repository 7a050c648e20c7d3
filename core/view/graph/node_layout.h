// Layouts of graph nodes: line, circle, or force-directed.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/figure/display_list.h"

namespace attnscope {

using Edge = std::pair<Index, Index>;  // two nodes; the first attends to the second

// Deterministic positions in the unit square. `layout`: "line", "circle" or "springs". The layout
// "springs" is force-directed and starts from the circle: edges attract their nodes, all nodes
// repel each other (Fruchterman and Reingold, 1991).
std::vector<Point> node_places(const std::string& layout, Index nodes,
                               const std::vector<Edge>& edges);

}  // namespace attnscope
