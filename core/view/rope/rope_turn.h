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
  Index pair_query = -1, pair_key = -1;  // tokens of query and key; -1: none
  std::vector<RotaryPair> pairs;
  bool is_example = false;   // artificial vectors, for files without any
  std::string run_encoding;  // the run's encoding if it is not RoPE: "ALiBi"
  std::string about;         // origin of vectors and parameters, for the caption

  double offset() const { return query_at - key_at; }
};

// Vectors and parameters of the view's settings; those of the run where the view sets none.
RopeTurn rope_turn(const ViewInput& input, const Values& view_values);

// Rotates a vector to a position.  [d_k]
Tensor rotated(const RopeTurn& turn, const Tensor& vector, double position);
// scale * q · k, with the query `offset` positions after the key.
double rotated_score(const RopeTurn& turn, double offset);
// Scores at `per_position` offsets per position, from -reach to reach in ascending order.
std::vector<Point> score_by_offset(const RopeTurn& turn, Index reach, Index per_position);

}  // namespace attnscope
