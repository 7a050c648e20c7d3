// Tables indexed by the offset o = i - j between a query and a key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/parameter.h"
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

// Entry n of part.pos_q or pos_k; an empty list means 0, 1, ...
Index position_at(const std::vector<std::int32_t>& positions, Index n);

}  // namespace attnscope
