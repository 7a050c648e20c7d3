// Tables indexed by the offset o = i - j between a query and a key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/parameter.h"
#include "core/part/choice.h"
#include "core/part/part.h"

namespace attnscope {

// Range [min, max] of the offsets between queries and keys of a part.
struct OffsetRange {
  Index min = 0, max = 0;
  Index count() const { return max - min + 1; }
  Index farthest() const { return -min > max ? -min : max; }  // largest |o|
};
OffsetRange offset_range(const Part& part);

// Index that maps every offset in the range to column(offset).
OffsetIndexPtr index_offsets(OffsetRange range, const std::function<Index(Index offset)>& column);

// Maps offsets to clamp(j - i, -clip, clip) + clip, as Shaw et al. number relative positions.
OffsetIndexPtr clipped_index(Index clip);
// Maps offsets to min(|i - j|, max_distance).
OffsetIndexPtr distance_index(Index max_distance);

// Parameter "clip": largest distance with a separate `item` ("number", "vector").
Parameter clip_parameter(const std::string& item);

// Offset between two pixels of an image that is read row by row.
struct ImageOffset {
  Index rows = 0, columns = 0;
};
// Replaces the positions p of a part by 2 width floor(p / width) + p mod width, so that an offset
// determines its rows and columns.
void use_image_positions(Part& part, Index width);
// Position p of such a code.
Index image_position(Index code, Index width);
// Rows and columns of an offset between such positions.
ImageOffset image_offset(Index offset, Index width);

// Replaces the positions of a part by codes such that the offset of a pair tells which of its
// positions are global (below `global`). Returns the number of positions, for global_pair().
Index use_global_positions(Part& part, Index global);
// Kinds of a pair, and the offset between its positions.
struct GlobalPair {
  bool is_query_global = false, is_key_global = false;
  Index offset = 0;
};
GlobalPair global_pair(Index offset, Index count);

// Position of such a code in pos_q or pos_k of the part.
Index global_position(const PartRules& rules, Index code);

// Entry n of part.pos_q or pos_k; an empty list means 0, 1, ...
Index position_at(const std::vector<std::int32_t>& positions, Index n);

}  // namespace attnscope
