// Numbers behind the RoPE view: a query and a key rotated to their positions.
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
  Tensor query, key;                     // before rotation.  [d_k]
  std::string query_name, key_name;      // "␣boat"; empty: not vectors of a token
  double query_at = 0, key_at = 0;       // positions
  Index pair_query = -1, pair_key = -1;  // tokens of the vectors; -1: none
  std::vector<RotaryPair> pairs;
  bool example = false;  // artificial vectors, for files without any
  std::string instead;   // the run's encoding if it is not RoPE: "ALiBi"
  std::string about;     // origin of vectors and parameters, for the caption

  double offset() const { return query_at - key_at; }
};

// From the view's settings, else from the run.
RopeTurn rope_turn(const ViewInput& input, const Values& view_values);

// Rotates a vector to a position.  [d_k]
Tensor turned(const RopeTurn& turn, const Tensor& vector, double position);
// scale * q · k, with the query `offset` positions after the key.
double rotated_score(const RopeTurn& turn, double offset);
// The same at `per_position` offsets per position from -reach to reach, ascending.
std::vector<Point> score_by_offset(const RopeTurn& turn, Index reach, Index per_position);

}  // namespace attnscope
