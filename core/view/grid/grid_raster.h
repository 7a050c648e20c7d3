// Layout of the grid's thumbnails.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/view/grid/grid_order.h"
#include "core/view/parts/page.h"

namespace attnscope {

constexpr double kMinFontScale = 0.7;  // minimum font size of labels, relative to Page::small()
constexpr double kGridHeader = 3.3;    // em: title and numbers next to the thumbnails
constexpr double kGridSortNote = 1.8;  // em: line above sorted thumbnails

// Positions of the thumbnails. The hit test keeps a copy.
struct GridRaster {
  double x = 0, y = 0;           // top left of the first thumbnail
  double width = 0, height = 0;  // size of a thumbnail
  double gap = 0;
  double label = 0;        // height of each label; 0: none
  bool two_lines = false;  // labels have two lines
  // {layer, head} by row and column. A row is a layer, or part of the sorted list.
  std::vector<std::vector<std::pair<Index, Index>>> rows;

  double step_x() const { return width + gap; }
  double step_y() const { return height + gap + label; }
  Box box(Index row, Index column) const {
    return {x + static_cast<double>(column) * step_x(),
            y + label + static_cast<double>(row) * step_y(), width, height};
  }
  std::size_t columns() const {
    std::size_t count = 0;
    for (const auto& row : rows) count = std::max(count, row.size());
    return count;
  }
  Box area() const {
    return {x, y, static_cast<double>(columns()) * step_x() - gap,
            static_cast<double>(rows.size()) * step_y() - gap};
  }
  std::optional<Hit> hit(Point p) const {
    const double row = std::floor((p.y - y) / step_y()), column = std::floor((p.x - x) / step_x());
    if (!(row >= 0 && row < static_cast<double>(rows.size()) && column >= 0)) return std::nullopt;
    const auto& heads = rows[static_cast<std::size_t>(row)];
    if (!(column < static_cast<double>(heads.size()))) return std::nullopt;
    if (!box(static_cast<Index>(row), static_cast<Index>(column)).contains(p)) return std::nullopt;
    const auto [layer, head] = heads[static_cast<std::size_t>(column)];
    if (head < 0) return std::nullopt;
    return Hit{layer, head, -1, -1};
  }
  std::optional<Box> box_of(Index layer, Index head) const {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t column = 0; column < rows[row].size(); ++column) {
        if (rows[row][column] == std::pair{layer, head}) {
          return box(static_cast<Index>(row), static_cast<Index>(column));
        }
      }
    }
    return std::nullopt;
  }
};

// Places layers from top to bottom, heads from left to right.
GridRaster place_layers(const Page& page, const Box& inside, const std::vector<Thumbnail>& list);
// Places thumbnails row by row in the order of `list`; the number of columns maximises their size.
GridRaster place_sorted(const Page& page, const Box& inside, const std::vector<Thumbnail>& list);

}  // namespace attnscope
