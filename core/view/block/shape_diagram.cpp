#include "core/view/block/shape_diagram.h"

#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

constexpr double kLargestSide = 9, kSmallestScale = 2.2;  // em: longest side of all matrices
constexpr double kCompactScale = 0.8;                     // em: smallest scale of compact labels
constexpr double kScaleStep = 0.4;                        // em
constexpr double kMinSide = 0.7;                          // em
constexpr double kSheetOffset = 0.32;                     // em from sheet to sheet
constexpr Index kMaxSheets = 4;                           // drawn sheets
constexpr double kLine = 1.25;                            // em: line of text
constexpr double kBoxGap = 0.7;                           // em between boxes of a column
constexpr double kLineGap = 0.9;                          // em between lines of columns
constexpr double kMinArrow = 1.6, kArrowGap = 0.35;       // em

struct Size {
  double width = 0, height = 0;
};

struct PlacedColumn {
  const MatrixColumn* column;
  double x = 0, arrow = 0, width = 0;  // relative to the line; width without the arrow
  Size size{};
};
struct PlacedLine {
  std::vector<PlacedColumn> columns;
  double width = 0, height = 0;
};

class ShapeDiagram {
 public:
  ShapeDiagram(Page& page, const Box& box, const std::vector<MatrixColumn>& columns)
      : page_(page), box_(box), columns_(columns), em_(page.em()) {
    for (const MatrixColumn& column : columns) {
      for (const MatrixBox& matrix : column.boxes) {
        largest_ = std::max({largest_, matrix.rows, matrix.columns});
      }
    }
  }

  // Chooses the scale. False if nothing fits.
  bool place() {
    for (const bool compact : {false, true}) {
      is_compact_ = compact;
      const double smallest = compact ? kCompactScale : kSmallestScale;
      for (double side = kLargestSide; side >= smallest; side -= kScaleStep) {
        unit_ = side * em_ / static_cast<double>(largest_);
        if (wrap_columns() && height() <= box_.height) return true;
      }
    }
    return false;
  }

  double draw() {
    double y = box_.y;
    for (const PlacedLine& line : lines_) {
      const double x = box_.x + std::max(0.0, (box_.width - line.width) / 2);
      for (const PlacedColumn& column : line.columns) draw_column(column, x, y, line.height);
      y += line.height + kLineGap * em_;
    }
    return y - kLineGap * em_;
  }

 private:
  static Index drawn_sheets(const MatrixBox& matrix) { return std::min(matrix.sheets, kMaxSheets); }
  double sheets_offset(const MatrixBox& matrix) const {
    return static_cast<double>(drawn_sheets(matrix) - 1) * kSheetOffset * em_;
  }
  double side(Index count) const {
    return std::max(kMinSide * em_, unit_ * static_cast<double>(count));
  }
  Size size_of(const MatrixBox& matrix) const {
    const double offset = sheets_offset(matrix);
    return {side(matrix.columns) + offset, side(matrix.rows) + offset};
  }
  // Compact labels: name and shape on one line.
  std::string compact_label(const MatrixBox& matrix) const {
    return matrix.name + "  " + matrix.shape();
  }
  double label_height() const { return (is_compact_ ? 1 : 2) * kLine * em_; }
  double label_width(const MatrixBox& matrix) const {
    if (is_compact_) return page_.width_of(compact_label(matrix), page_.small());
    return std::max(page_.width_of(matrix.name, em_, true),
                    page_.width_of(matrix.shape(), page_.small()));
  }

  PlacedColumn measured(const MatrixColumn& column) const {
    PlacedColumn placed{&column};
    for (const std::string& line : column.operation) {
      placed.arrow = std::max({placed.arrow, kMinArrow * em_, page_.width_of(line, page_.small())});
    }
    if (placed.arrow > 0) placed.arrow += 2 * kArrowGap * em_;
    for (const MatrixBox& matrix : column.boxes) {
      const Size size = size_of(matrix);
      placed.width = std::max({placed.width, size.width, label_width(matrix)});
      placed.size.height += size.height + label_height();
    }
    placed.size.height += static_cast<double>(column.boxes.size() - 1) * kBoxGap * em_;
    return placed;
  }

  bool wrap_columns() {
    lines_.assign(1, {});
    for (const MatrixColumn& column : columns_) {
      PlacedColumn placed = measured(column);
      const double width = placed.arrow + placed.width;
      if (width > box_.width) return false;
      if (lines_.back().width + width > box_.width) lines_.emplace_back();
      PlacedLine& line = lines_.back();
      placed.x = line.width;
      line.width += width;
      // The operation is above the middle of the line.
      const auto lines = static_cast<double>(column.operation.size());
      line.height = std::max({line.height, placed.size.height, 2 * (0.4 + kLine * lines) * em_});
      line.columns.push_back(placed);
    }
    return true;
  }

  double height() const {
    double sum = static_cast<double>(lines_.size() - 1) * kLineGap * em_;
    for (const PlacedLine& line : lines_) sum += line.height;
    return sum;
  }

  void draw_column(const PlacedColumn& placed, double line_x, double top, double line_height) {
    const double x = line_x + placed.x;
    if (placed.arrow > 0) draw_operation(placed, x, top + line_height / 2);
    const double left = x + placed.arrow;
    double y = top + (line_height - placed.size.height) / 2;
    for (const MatrixBox& matrix : placed.column->boxes) {
      const Size size = size_of(matrix);
      const double centre = left + placed.width / 2;
      draw_sheets(matrix, {centre - size.width / 2, y, size.width, size.height});
      y += size.height + kLine * em_ / 2;
      if (is_compact_) {
        page_.text({centre, y}, compact_label(matrix), page_.small(), Align::Middle);
      } else {
        page_.add(Text{{centre, y}, matrix.name, page_.theme().text, em_, Align::Middle, 0, true});
        page_.faint_text({centre, y + kLine * em_}, matrix.shape(), page_.small(), Align::Middle);
      }
      y += label_height() - kLine * em_ / 2 + kBoxGap * em_;
    }
  }

  void draw_operation(const PlacedColumn& placed, double x, double middle) {
    const double gap = kArrowGap * em_, centre = x + placed.arrow / 2;
    for (const Line& part : arrow({x + gap, middle}, {x + placed.arrow - gap, middle},
                                  page_.theme().faint_text, 1.2)) {
      page_.add(part);
    }
    const std::vector<std::string>& lines = placed.column->operation;
    for (std::size_t n = 0; n < lines.size(); ++n) {
      const double y = middle - (0.8 + kLine * static_cast<double>(lines.size() - 1 - n)) * em_;
      page_.text({centre, y}, lines[n], page_.small(), Align::Middle);
    }
  }

  void draw_sheets(const MatrixBox& matrix, const Box& box) {
    const Index count = drawn_sheets(matrix);
    const double offset = kSheetOffset * em_;
    const double width = side(matrix.columns), height = side(matrix.rows);
    for (Index n = count - 1; n >= 0; --n) {  // the back sheet first
      const double shift = static_cast<double>(n) * offset;
      const Box sheet{box.x + shift, box.y + sheets_offset(matrix) - shift, width, height};
      page_.add(FilledBox{sheet, blend(page_.theme().background, matrix.colour, 0.28)});
      page_.add(OutlinedBox{sheet, matrix.colour, n == 0 ? 1.6 : 1.0});
    }
  }

  Page& page_;
  Box box_;
  const std::vector<MatrixColumn>& columns_;
  double em_, unit_ = 1;
  bool is_compact_ = false;
  Index largest_ = 1;
  std::vector<PlacedLine> lines_;
};

}  // namespace

std::string MatrixBox::shape() const {
  const std::string matrix = grouped(rows) + " × " + grouped(columns);
  return sheets == 1 ? matrix : grouped(sheets) + " × " + matrix;
}

std::optional<double> draw_shape_diagram(Page& page, const Box& box,
                                         const std::vector<MatrixColumn>& columns) {
  ShapeDiagram diagram(page, box, columns);
  if (!diagram.place()) return std::nullopt;
  return diagram.draw();
}

}  // namespace attnscope
