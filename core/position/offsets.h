// Tables indexed by the offset o = i - j between a query and a key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/parameter.h"
#include "core/part/part.h"

namespace attnscope {

// Offsets that occur between the part's queries and keys: all in [least, most].
struct OffsetRange {
  Index least = 0, most = 0;
  Index count() const { return most - least + 1; }
  Index farthest() const { return -least > most ? -least : most; }  // largest |o|
};
OffsetRange offset_range(const Part& part);

// Index of column(o) for every offset in the range.
OffsetIndexPtr index_offsets(OffsetRange range, const std::function<Index(Index offset)>& column);

// clamp(j - i, -clip, clip) + clip: relative positions as numbered by Shaw et al.
OffsetIndexPtr clipped_index(Index clip);
// min(|i - j|, max_distance).
OffsetIndexPtr distance_index(Index max_distance);

// "clip": the largest distance that has its own `item` ("number", "vector").
Parameter clip_parameter(const std::string& item);

// Entry n of part.pos_q or pos_k; an empty list means 0, 1, ...
Index position_at(const std::vector<std::int32_t>& positions, Index n);

}  // namespace attnscope
