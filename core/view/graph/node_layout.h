// Where the nodes of a graph stand: on a line, on a circle, or where springs pull them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/figure/display_list.h"

namespace attnscope {

using Edge = std::pair<Index, Index>;  // two nodes; the first sees the second

// In a square from 0 to 1, deterministic. layout: "line", "circle" or "springs": edges pull their
// ends together and nodes push each other away (Fruchterman and Reingold, 1991), from the circle
// on.
std::vector<Point> node_places(const std::string& layout, Index nodes,
                               const std::vector<Edge>& edges);

}  // namespace attnscope
