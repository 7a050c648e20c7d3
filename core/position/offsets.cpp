#include "core/position/offsets.h"

#include <algorithm>
#include <cstdlib>

namespace attnscope {
namespace {

struct Bounds {
  Index min = 0, max = 0;
};

Bounds bounds(const std::vector<std::int32_t>& positions, Index count) {
  if (positions.empty()) return {0, std::max<Index>(0, count - 1)};
  const auto [min, max] = std::minmax_element(positions.begin(), positions.end());
  return {*min, *max};
}

}  // namespace

OffsetRange offset_range(const Part& part) {
  const Bounds q = bounds(part.pos_q, part.queries()), k = bounds(part.pos_k, part.keys());
  return {q.min - k.max, q.max - k.min};
}

OffsetIndexPtr index_offsets(OffsetRange range, const std::function<Index(Index offset)>& column) {
  auto index = std::make_shared<OffsetIndex>();
  index->min = range.min;
  index->column.reserve(static_cast<std::size_t>(range.count()));
  for (Index offset = range.min; offset <= range.max; ++offset) {
    index->column.push_back(static_cast<std::int32_t>(column(offset)));
  }
  return index;
}

OffsetIndexPtr clipped_index(Index clip) {
  return index_offsets({-clip, clip}, [clip](Index offset) { return clip - offset; });
}

OffsetIndexPtr distance_index(Index max_distance) {
  return index_offsets({-max_distance, max_distance},
                       [](Index offset) { return std::abs(offset); });
}

Parameter clip_parameter(const std::string& item) {
  return {.key = "clip",
          .symbol = "k",
          .label = "Clip",
          .help = "Largest distance with its own " + item + ".",
          .required = true,
          .initial = Index{16},
          .slider = {.max = 128}};
}

Index position_at(const std::vector<std::int32_t>& positions, Index n) {
  return positions.empty() ? n : positions[static_cast<std::size_t>(n)];
}

}  // namespace attnscope
