#include "core/view/parts/number_table.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"

namespace attnscope {
namespace {

constexpr double kMaxRowLabel = 0.22;  // fraction of the width for the labels of the rows
constexpr double kMinBarHeight = 5;    // em: tables at least this high have a colour bar

Index gaps_before(const std::vector<Index>& gaps, Index index) {
  return std::ranges::count_if(gaps, [&](Index gap) { return gap <= index; });
}

}  // namespace

PlacedTable::PlacedTable(const Page& page, const Box& box, const NumberTable& table)
    : table_(table), em_(page.em()), left_(box.x), top_(box.y) {
  double widest = 0;
  for (const std::string& label : table.rows) {
    widest = std::max(widest, page.width_of(label, page.small()));
  }
  label_width_ = std::min(widest, kMaxRowLabel * box.width) + 0.6 * em_;
  left_ += label_width_;
  const auto gaps = [](const std::vector<Index>& g) { return static_cast<double>(g.size()); };
  const double width =
      box.width - label_width_ - colour_bar_width(page) - gaps(table.column_gaps) * kGap * em_;
  const double height = box.height - kLabels * em_ - gaps(table.row_gaps) * kGap * em_;
  cell_width_ = std::min(width / static_cast<double>(std::max<Index>(column_count(), 1)),
                         table.max_column * em_);
  cell_height_ =
      std::min(height / static_cast<double>(std::max<Index>(row_count(), 1)), table.max_row * em_);
}

Box PlacedTable::cell(Index row, Index column) const {
  const auto row_gaps = static_cast<double>(gaps_before(table_.row_gaps, row));
  const auto column_gaps = static_cast<double>(gaps_before(table_.column_gaps, column));
  return {left_ + static_cast<double>(column) * cell_width_ + column_gaps * kGap * em_,
          top_ + static_cast<double>(row) * cell_height_ + row_gaps * kGap * em_, cell_width_,
          cell_height_};
}

std::pair<Index, Index> PlacedTable::at(Point p) const {
  for (Index row = 0; row < row_count(); ++row) {
    const Box first = cell(row, 0);
    if (p.y < first.y || p.y >= first.bottom()) continue;
    for (Index column = 0; column < column_count(); ++column) {
      const Box box = cell(row, column);
      if (p.x >= box.x && p.x < box.right()) return {row, column};
    }
  }
  return {-1, -1};
}

void PlacedTable::draw_cell(Page& page, Index row, Index column) const {
  const Box box = cell(row, column);
  const auto value = static_cast<double>(table_.values(row, column));
  const bool has_number = std::isfinite(value);
  const Colour fill = has_number
                          ? colour_map(table_.range.colour_map).at(table_.range.position(value))
                          : blend(page.theme().background, page.theme().line, 0.3);
  page.add(FilledBox{box, fill});
  if (box.width >= 6 && box.height >= 6) page.add(OutlinedBox{box, page.theme().background, 1});
  const std::string text = has_number ? table_.format(value) : "–";
  if (page.width_of(text, page.small()) > box.width - 0.2 * em_) return;
  if (1.1 * page.small() > box.height) return;
  page.add(Text{{box.x + box.width / 2, box.y + box.height / 2},
                text,
                has_number ? ink_on(fill) : page.theme().faint_text,
                page.small(),
                Align::Middle});
}

void PlacedTable::draw_row_labels(Page& page) const {
  double free_from = -INFINITY;
  for (Index row = 0; row < row_count(); ++row) {
    const Box first = cell(row, 0);
    const double y = first.y + first.height / 2;
    if (y - 0.55 * page.small() < free_from) continue;
    free_from = y + 0.55 * page.small();
    page.faint_text({left_ - 0.5 * em_, y},
                    page.ellipsised(table_.rows[static_cast<std::size_t>(row)], page.small(),
                                    label_width_ - 0.5 * em_),
                    page.small(), Align::End);
  }
}

void PlacedTable::draw_column_labels(Page& page) const {
  const double y = cell(row_count() - 1, 0).bottom() + 0.75 * em_;
  std::vector<std::string> texts;
  double widest = 0;
  for (const std::vector<std::string>& labels : table_.columns) {
    const std::string label = page.fitting(labels, page.small(), cell_width_);
    texts.push_back(label.ends_with("…") ? labels.back() : label);
    widest = std::max(widest, page.width_of(texts.back(), page.small()));
  }
  // Every first, second, fifth, tenth, ... column has a label.
  Index step = 1;
  for (const Index next : {2, 5, 10, 20, 50, 100, 1000}) {
    if (static_cast<double>(step) * cell_width_ >= widest + 0.3 * em_) break;
    step = next;
  }
  for (Index column = 0; column < column_count(); column += step) {
    const Box box = cell(0, column);
    page.faint_text({box.x + box.width / 2, y}, texts[static_cast<std::size_t>(column)],
                    page.small(), Align::Middle);
  }
}

void PlacedTable::draw(Page& page) const {
  for (Index row = 0; row < row_count(); ++row) {
    for (Index column = 0; column < column_count(); ++column) draw_cell(page, row, column);
  }
  draw_row_labels(page);
  draw_column_labels(page);
  const Index selected = table_.selected_column;
  if (selected >= 0 && selected < column_count()) {
    const Box first = cell(0, selected), last = cell(row_count() - 1, selected);
    page.add(OutlinedBox{
        {first.x, first.y, first.width, last.bottom() - first.y}, page.theme().accent, 2});
  }
  const Box last = cell(row_count() - 1, column_count() - 1);
  const Box bar{last.right() + 0.6 * em_, top_, colour_bar_width(page), last.bottom() - top_};
  if (bar.height >= kMinBarHeight * em_ && bar.width > 0) {
    draw_colour_bar(page, bar, table_.range, table_.bar_titles);
  }
}

}  // namespace attnscope
