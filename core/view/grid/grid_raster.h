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
constexpr double kLabelLine = 1.25;    // line height of labels, in their font size
constexpr double kGridHeader = 3.3;    // em: title and numbers next to the thumbnails
constexpr double kGridSortNote = 1.8;  // em: line above a list of thumbnails

// Texts above the thumbnails.
enum class GridLabel {
  None,
  Badge,       // HeadName::badge
  Word,        // HeadName::word
  OneLine,     // layer·head, and the measured number to the right
  TwoLines,    // layer·head, and the measured number below
  HeadNumbers  // layer·head
};

// Positions of the thumbnails. The hit test keeps a copy.
struct GridRaster {
  double x = 0, y = 0;           // top left of the first thumbnail's label
  double width = 0, height = 0;  // size of a thumbnail
  double gap = 0;
  GridLabel label_kind = GridLabel::None;
  double label_size = 0;  // font size of all labels
  double label = 0;       // height of each label; 0: none
  double strip = 0;       // height of the coloured strip between label and thumbnail; 0: none
  // {layer, head} by row and column; {-1, -1}: empty. If placed by place_layers(), rows are layers
  // and columns are heads, or the reverse if `has_layers_across`. If placed by place_list(), rows
  // are successive parts of the list.
  std::vector<std::vector<std::pair<Index, Index>>> rows;
  bool has_layers_across = false;
  // Layers can continue in further blocks to the right, or below if `has_layers_across`. Numbers of
  // rows and columns per block (0: one block), and the space for headers between blocks.
  Index block_rows = 0, block_columns = 0;
  double block_gap = 0;

  double step_x() const { return width + gap; }
  double step_y() const { return height + gap + label + strip; }
  Box box(Index row, Index column) const {
    return {x + offset(column, step_x(), block_columns),
            y + label + strip + offset(row, step_y(), block_rows), width, height};
  }
  std::size_t columns() const {
    std::size_t count = 0;
    for (const auto& row : rows) count = std::max(count, row.size());
    return count;
  }
  // All thumbnails and their labels.
  Box area() const {
    if (rows.empty()) return {x, y, 0, 0};
    const Box last = box(static_cast<Index>(rows.size()) - 1, static_cast<Index>(columns()) - 1);
    return {x, y, last.right() - x, last.bottom() - y};
  }
  std::optional<Hit> hit(Point p) const {
    const Index row = index(p.y - y, step_y(), block_rows),
                column = index(p.x - x, step_x(), block_columns);
    if (row < 0 || row >= static_cast<Index>(rows.size()) || column < 0) return std::nullopt;
    const auto& heads = rows[static_cast<std::size_t>(row)];
    if (column >= static_cast<Index>(heads.size()) || !box(row, column).contains(p)) {
      return std::nullopt;
    }
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

 private:
  double offset(Index n, double step, Index block) const {
    return static_cast<double>(n) * step +
           (block > 0 ? static_cast<double>(n / block) * block_gap : 0);
  }
  // Index of the row or column at a distance from the first one; -1 outside.
  Index index(double distance, double step, Index block) const {
    if (!(distance >= 0)) return -1;
    if (block == 0) return static_cast<Index>(distance / step);
    const double span = static_cast<double>(block) * step + block_gap;
    const auto n = static_cast<Index>(distance / span);
    const auto within = static_cast<Index>((distance - static_cast<double>(n) * span) / step);
    return within < block ? n * block + within : -1;
  }
};

// Places thumbnails by layer and head: layers from top to bottom, or from left to right, in one or
// several blocks, whichever makes the thumbnails largest.
GridRaster place_layers(const Page& page, const Box& inside, const std::vector<Thumbnail>& list);
// Places thumbnails row by row in the order of `list`; the number of columns maximises their size.
// has_numbers: labels include Thumbnail::measure if there is space.
GridRaster place_list(const Page& page, const Box& inside, const std::vector<Thumbnail>& list,
                      bool has_numbers);

}  // namespace attnscope
