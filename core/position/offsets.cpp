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

namespace {

Index floor_division(Index a, Index b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

// Image positions of `positions`, or of 0, 1, ... count - 1 if there are none.
std::vector<std::int32_t> image_positions(const std::vector<std::int32_t>& positions, Index count,
                                          Index width) {
  std::vector<std::int32_t> result;
  const Index size = positions.empty() ? count : static_cast<Index>(positions.size());
  for (Index n = 0; n < size; ++n) {
    const Index p = position_at(positions, n);
    result.push_back(static_cast<std::int32_t>(p + floor_division(p, width) * width));
  }
  return result;
}

}  // namespace

void use_image_positions(Part& part, Index width) {
  part.pos_q = image_positions(part.pos_q, part.queries(), width);
  part.pos_k = image_positions(part.pos_k, part.keys(), width);
}

Index image_position(Index code, Index width) {
  return code - floor_division(code, 2 * width) * width;
}

ImageOffset image_offset(Index offset, Index width) {
  const Index rows = floor_division(offset + width, 2 * width);
  return {rows, offset - rows * 2 * width};
}

namespace {

// Codes of global queries and keys begin at these multiples of the number of positions, so that the
// offsets of the four kinds of pairs do not overlap: they are near 0 (neither position is global),
// 4 (the query's), 8 (the key's) and 12 times that number.
constexpr Index kGlobalQuery = 4, kGlobalKey = -8;

std::vector<std::int32_t> global_codes(const std::vector<std::int32_t>& positions, Index count,
                                       Index global, Index first_code) {
  std::vector<std::int32_t> result;
  for (Index n = 0; n < count; ++n) {
    const Index p = position_at(positions, n);
    result.push_back(static_cast<std::int32_t>(p < global ? p + first_code : p));
  }
  return result;
}

}  // namespace

Index use_global_positions(Part& part, Index global) {
  const Index count =
      1 + std::max(bounds(part.pos_q, part.queries()).max, bounds(part.pos_k, part.keys()).max);
  const Index key_entries = std::max(part.keys(), static_cast<Index>(part.pos_k.size()));
  part.pos_q = global_codes(part.pos_q, part.queries(), global, kGlobalQuery * count);
  part.pos_k = global_codes(part.pos_k, key_entries, global, kGlobalKey * count);
  return count;
}

GlobalPair global_pair(Index offset, Index count) {
  const Index kind = floor_division(offset + 2 * count, 4 * count);  // 0 to 3
  return {kind % 2 == 1, kind >= 2, offset - kind * 4 * count};
}

Index global_position(const PartRules& rules, Index code) {
  const Index first_key = bounds(rules.pos_k, rules.keys()).min;  // global if negative
  if (first_key >= 0) return code;
  const Index count = first_key / kGlobalKey;
  if (code < 0) return code - kGlobalKey * count;
  return code >= kGlobalQuery * count ? code - kGlobalQuery * count : code;
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
