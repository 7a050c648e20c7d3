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
  Tensor query, key;                 // before rotation  [d_k]
  std::string query_name, key_name;  // "␣boat"; empty if the vectors belong to no token
  double query_position = 0, key_position = 0;
  Index pair_query = -1, pair_key = -1;  // rows of query and key in the map; -1: none
  std::vector<RotaryPair> pairs;
  bool is_example = false;   // the vectors are artificial, because the run has none
  std::string run_encoding;  // the run's encoding if it is not RoPE: "ALiBi"
  std::string origin;        // sentences on the origin of vectors and parameters, for the caption

  double offset() const { return query_position - key_position; }
};

// Vectors and parameters of the view. Settings that the view leaves unset are the run's.
RopeTurn rope_turn(const ViewInput& input, const Values& view_values);

// The vector [d_k] rotated to a position.
Tensor rotated(const RopeTurn& turn, const Tensor& vector, double position);
// scale * q · k if the query is `offset` positions after the key.
double rotated_score(const RopeTurn& turn, double offset);
// Points {offset, score} from -reach to reach in ascending order, `per_position` for each position.
std::vector<Point> score_by_offset(const RopeTurn& turn, Index reach, Index per_position);

}  // namespace attnscope
