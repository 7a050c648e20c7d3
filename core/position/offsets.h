// Tables by the offset o = i - j between a query and a key.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/parameter.h"
#include "core/part/part.h"

namespace attnscope {

// The offsets that occur between the part's queries and keys: all in [least, most].
struct OffsetRange {
  Index least = 0, most = 0;
  Index count() const { return most - least + 1; }
  Index farthest() const { return -least > most ? -least : most; }  // largest |o|
};
OffsetRange offset_range(const Part& part);

// column(o) for every o in the range.
OffsetIndexPtr index_offsets(OffsetRange range, const std::function<Index(Index offset)>& column);

// clamp(j - i, -clip, clip) + clip: how Shaw et al. number relative positions.
OffsetIndexPtr clipped_index(Index clip);
// min(|i - j|, most).
OffsetIndexPtr distance_index(Index most);

// "clip", up to which every distance has one of these of its own: a "number", a "vector".
Parameter clip_parameter(const std::string& of_each);

// Position p as in part.pos_q or pos_k; empty lists stand for 0, 1, ...
Index position_at(const std::vector<std::int32_t>& positions, Index n);

}  // namespace attnscope
