// What the RoPE view shows, in numbers: a query and a key turned to their positions.
#pragma once

#include <string>
#include <vector>

#include "core/position/rope.h"
#include "core/view/view.h"

namespace attnscope {

struct RopeTurn {
  Values rope;  // parameters of the encoding "rope"
  Index head_size = 0;
  double scale = 1;
  Tensor query, key;                     // before they are turned.  [d_k]
  std::string query_name, key_name;      // "␣boat"; empty: vectors that are no token's
  double query_at = 0, key_at = 0;       // positions
  Index pair_query = -1, pair_key = -1;  // whose vectors these are; -1: no token's
  std::vector<RotaryPair> pairs;
  bool example = false;  // the vectors stand for those of a file without any
  std::string instead;   // the run's own encoding where that is not RoPE: "ALiBi"
  std::string about;     // whose vectors and whose parameters these are, for the caption

  double offset() const { return query_at - key_at; }
};

// From the settings of the view, and from the run where they leave that open.
RopeTurn rope_turn(const ViewInput& input, const Values& view_values);

// A vector as the encoding turns it at a position.  [d_k]
Tensor turned(const RopeTurn& turn, const Tensor& vector, double position);
// scale * q . k, with the query `offset` positions after the key.
double turned_score(const RopeTurn& turn, double offset);
// The same at `per_position` offsets for each position from -reach to reach, rising.
std::vector<Point> score_by_offset(const RopeTurn& turn, Index reach, Index per_position);

}  // namespace attnscope
