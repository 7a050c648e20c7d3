#include "core/attention/tiles.h"

#include <stdexcept>

namespace attnscope {

void check(const TileRequest& r, Index heads, Index queries, Index keys) {
  const auto within = [](Index first, Index count, Index limit) {
    return first >= 0 && count >= 0 && first <= limit && count <= limit - first;
  };
  if (within(r.head, 1, heads) && within(r.row, r.height, queries) &&
      within(r.column, r.width, keys) && r.step >= 1) {
    return;
  }
  throw std::logic_error("attention tile: step " + std::to_string(r.step) + ", row " +
                         std::to_string(r.row) + " + " + std::to_string(r.height) + ", column " +
                         std::to_string(r.column) + " + " + std::to_string(r.width) + ", head " +
                         std::to_string(r.head) + ": expected a rectangle within maps of shape " +
                         to_string(Shape{heads, queries, keys}));
}

}  // namespace attnscope
