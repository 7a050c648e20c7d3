// Table of numbers as coloured cells with labelled rows and columns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/view/parts/colour_bar.h"

namespace attnscope {

struct NumberTable {
  std::vector<std::string> rows;  // labels
  // Label candidates of each column, longest first, drawn below the cells.
  std::vector<std::vector<std::string>> columns;
  Tensor values;  // [rows, columns]; NaN: no number
  ColourRange range;
  std::vector<std::string> bar_titles;        // titles of the colour bar
  std::function<std::string(double)> format;  // text of a number
  std::vector<Index> row_gaps, column_gaps;   // rows and columns with a gap before them
  Index selected_column = -1;                 // framed in the accent colour; -1: none
  double max_row = 1.9, max_column = 7;       // em
};

// A table in its place, at the top left of a box.
class PlacedTable {
 public:
  PlacedTable(const Page& page, const Box& box, const NumberTable& table);
  bool fits() const { return cell_height_ >= kMinRow * em_ && cell_width_ >= 2; }
  double bottom() const { return cell(row_count() - 1, 0).bottom() + kLabels * em_; }
  Box cell(Index row, Index column) const;
  // Row and column at a point; -1: outside.
  std::pair<Index, Index> at(Point p) const;
  void draw(Page& page) const;

 private:
  static constexpr double kMinRow = 0.5, kLabels = 1.5, kGap = 0.6;  // em

  Index row_count() const { return static_cast<Index>(table_.rows.size()); }
  Index column_count() const { return static_cast<Index>(table_.columns.size()); }
  void draw_cell(Page& page, Index row, Index column) const;
  void draw_row_labels(Page& page) const;
  void draw_column_labels(Page& page) const;

  NumberTable table_;
  double em_, left_ = 0, top_ = 0, label_width_ = 0, cell_width_ = 0, cell_height_ = 0;
};

}  // namespace attnscope
