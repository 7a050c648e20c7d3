#include "core/view/architecture/placement.h"

#include <algorithm>

namespace attnscope {
namespace {

using Kind = DiagramPart::Kind;
using M = DiagramMeasures;

// Sizes in multiples of Placement::unit.
constexpr double kWidths[] = {22, 28};  // width of two parts side by side, and of three or more
constexpr double kBetweenParts = 0.7;
constexpr double kSideWidth = 11;   // width of a `left` or `right` part
constexpr double kLoopWidth = 7.5;  // "up to T = 6 times", in two lines
constexpr double kGateWidth = 12;
constexpr double kThumbnailWidth = 4;
constexpr double kTitleHeight = 2;

constexpr double kMinUnit = 0.6, kMaxUnit = 1.25;  // em
constexpr double kSmallNote = 0.72;  // em: smaller notes are replaced by one larger line
constexpr double kMinNote = 0.65;    // em

double height_of(const DiagramPart& part, const M& m) {
  const auto notes = static_cast<double>(part.notes.size());
  switch (part.kind) {
    case Kind::Sum:
      return 2 * M::circle;
    case Kind::Words:
      return 1.4 + M::note_line * notes;
    case Kind::Norm:
    case Kind::Position:
      return m.norm;
    default:
      return 2.0 + M::note_line * notes;
  }
}

double height_of(const DiagramRow& row, const M& m) {
  double height = 0;
  for (const DiagramPart& part : row.parts) height = std::max(height, height_of(part, m));
  for (const auto& side : {row.left, row.right}) {
    if (side) height = std::max(height, 0.55 * height_of(*side, m));  // can overlap gaps
  }
  return height;
}

struct ColumnSize {
  double boxes = 0;               // width of the widest repeated row
  double left = 0, right = 0;     // space next to the boxes
  std::vector<double> bottoms{};  // distance of each row from the column's lower end
  std::vector<double> heights{};
  double height = 0;
  double width() const { return left + boxes + right; }
};

double width_of_parts(std::size_t count, const M& m) {
  return count == 1 ? m.part : kWidths[std::min<std::size_t>(count, 3) - 2];
}

bool is_framed(const DiagramColumn& column, std::size_t r) {
  return std::ranges::any_of(column.frames,
                             [r](const DiagramFrame& f) { return r >= f.first && r <= f.last; });
}

ColumnSize measure(const DiagramColumn& column, const M& m) {
  ColumnSize size;
  std::size_t max_parts = 1, max_framed = 1;
  bool has_left = false, has_right = false, has_streams = false, has_loops = false;
  for (std::size_t r = 0; r < column.rows.size(); ++r) {
    const DiagramRow& row = column.rows[r];
    max_parts = std::max(max_parts, row.parts.size());
    if (is_framed(column, r)) max_framed = std::max(max_framed, row.parts.size());
    has_left |= row.left.has_value();
    has_right |= row.right.has_value();
  }
  for (const DiagramFrame& frame : column.frames) {
    has_streams |= frame.has_streams;
    has_loops |= frame.loops;
  }
  size.boxes = width_of_parts(max_framed, m);
  const double margin_left = has_streams ? M::frame_streams : M::frame_left;
  const double margin_right = has_streams ? M::frame_streams : M::frame_right;
  size.left = margin_left + std::max(has_left ? M::aside + kSideWidth : 0.0,
                                     has_loops ? M::aside + kLoopWidth : 0.0);
  size.right = margin_right + std::max(has_right ? M::aside + kSideWidth : 0.0,
                                       column.frames.empty() ? 0.0 : M::aside / 2 + m.label);
  const double wider = (width_of_parts(max_parts, m) - size.boxes) / 2;  // unframed rows
  size.left = std::max(size.left, wider);
  size.right = std::max(size.right, wider);
  double y = column.title.empty() ? 0 : kTitleHeight;
  for (std::size_t r = 0; r < column.rows.size(); ++r) {
    const auto begins = [&](const DiagramFrame& f) { return f.first == r; };
    const auto ended = [&](const DiagramFrame& f) { return r > 0 && f.last == r - 1; };
    double gap = r == 0 ? 0 : m.gap;
    const bool begins_here = std::ranges::any_of(column.frames, begins);
    const bool ends_before = std::ranges::any_of(column.frames, ended);
    if (begins_here || ends_before) gap = m.between;
    if (begins_here) gap += m.frame_below;
    if (ends_before) gap += m.frame_above;
    y += gap;
    size.bottoms.push_back(y);
    size.heights.push_back(height_of(column.rows[r], m));
    y += size.heights.back();
  }
  size.height = y;
  return size;
}

class Placer {
 public:
  Placer(const Diagram& diagram, const std::vector<ColumnSize>& sizes, const Placement& placement)
      : diagram_(diagram),
        sizes_(sizes),
        m_(placement.measures),
        unit_(placement.unit),
        bottom_(placement.bottom) {}

  PlacedColumn place(std::size_t n, double x) const {
    const DiagramColumn& column = diagram_.columns[n];
    const ColumnSize& size = sizes_[n];
    PlacedColumn placed;
    placed.left = x + size.left * unit_;
    placed.right = placed.left + size.boxes * unit_;
    placed.centre = (placed.left + placed.right) / 2;
    placed.title = {placed.centre, bottom_ - 0.5 * unit_};
    for (std::size_t r = 0; r < column.rows.size(); ++r) place_row(column, size, r, placed);
    for (const DiagramFrame& f : column.frames) placed.frames.push_back(frame_box(placed, f));
    for (std::size_t r = 0; r < column.rows.size(); ++r) place_neighbours(column, r, placed);
    return placed;
  }

 private:
  double width_of(const DiagramPart& part, double full_width) const {
    switch (part.kind) {
      case Kind::Sum:
        return 2 * M::circle * unit_;
      case Kind::Gate:
        return kGateWidth * unit_;
      default:
        return full_width;
    }
  }

  void place_row(const DiagramColumn& column, const ColumnSize& size, std::size_t r,
                 PlacedColumn& placed) const {
    const DiagramRow& row = column.rows[r];
    const double bottom = bottom_ - size.bottoms[r] * unit_, height = size.heights[r] * unit_;
    const auto count = static_cast<double>(row.parts.size());
    const double total = width_of_parts(row.parts.size(), m_) * unit_;
    const double each = (total - (count - 1) * kBetweenParts * unit_) / count;
    std::vector<Box> boxes;
    double x = placed.centre - total / 2;
    for (const DiagramPart& part : row.parts) {
      const double part_width = width_of(part, each), part_height = height_of(part, m_) * unit_;
      double middle = x + each / 2;
      if (row.stream == 0) middle = placed.left - M::skip * unit_;
      if (row.stream == 1) middle = placed.right + M::skip * unit_;
      boxes.push_back(
          {middle - part_width / 2, bottom - (height + part_height) / 2, part_width, part_height});
      x += each + kBetweenParts * unit_;
    }
    placed.parts.push_back(std::move(boxes));
  }

  Box frame_box(const PlacedColumn& placed, const DiagramFrame& frame) const {
    const double left = frame.has_streams ? M::frame_streams : M::frame_left;
    const double right = frame.has_streams ? M::frame_streams : M::frame_right;
    const double top = placed.parts[frame.last].front().y - m_.frame_above * unit_;
    const double bottom = placed.parts[frame.first].front().bottom() + m_.frame_below * unit_;
    const double x = placed.left - left * unit_;
    return {x, top, placed.right + right * unit_ - x, bottom - top};
  }

  void place_neighbours(const DiagramColumn& column, std::size_t r, PlacedColumn& placed) const {
    const DiagramRow& row = column.rows[r];
    const Box& main = placed.parts[r].front();
    const bool has_streams = std::ranges::any_of(column.frames, &DiagramFrame::has_streams);
    const double left = has_streams ? M::frame_streams : M::frame_left;
    const double right = has_streams ? M::frame_streams : M::frame_right;
    const auto box = [&](const DiagramPart& part, double x) {
      const double height = height_of(part, m_) * unit_;
      return Box{x, main.y + main.height / 2 - height / 2, kSideWidth * unit_, height};
    };
    placed.left_parts.push_back(
        row.left ? box(*row.left, placed.left - (left + M::aside + kSideWidth) * unit_) : Box());
    placed.right_parts.push_back(
        row.right ? box(*row.right, placed.right + (right + M::aside) * unit_) : Box());
  }

  const Diagram& diagram_;
  const std::vector<ColumnSize>& sizes_;
  const M& m_;
  double unit_, bottom_;
};

// Height by which parts next to the first or last row exceed that row.
double overhang(const DiagramColumn& column, const M& m) {
  double extra = 0;
  for (const DiagramRow* row : {&column.rows.front(), &column.rows.back()}) {
    for (const auto& side : {row->left, row->right}) {
      if (side) extra = std::max(extra, (height_of(*side, m) - height_of(*row, m)) / 2);
    }
  }
  return std::max(0.0, extra);
}

std::optional<Placement> try_place(const Page& page, const Box& inside, const Diagram& diagram,
                                   const M& measures) {
  std::vector<ColumnSize> sizes;
  double width = 0, height = 0, extra = 0;
  for (const DiagramColumn& column : diagram.columns) {
    sizes.push_back(measure(column, measures));
    width += sizes.back().width() + (sizes.size() > 1 ? measures.columns : 0.0);
    height = std::max(height, sizes.back().height);
    extra = std::max(extra, overhang(column, measures));
  }
  height += extra;
  const double em = page.em();
  const double max_unit = std::min(inside.width / width, inside.height / height);
  if (!(max_unit >= page.legible(kMinUnit * em))) return std::nullopt;
  Placement placement;
  placement.measures = measures;
  placement.unit = std::min(max_unit, kMaxUnit * em);
  const double above = page.top_margin(inside.height, height * placement.unit);
  placement.bottom = inside.y + above + height * placement.unit;
  double x = inside.x + (inside.width - width * placement.unit) / 2;
  if (sizes.size() == 1) {  // centres the boxes as far as space allows
    const double shift = (sizes[0].right - sizes[0].left) * placement.unit / 2;
    const double room = std::max(x - inside.x, 0.0);  // rounding can make it negative
    x += std::clamp(shift, -room, room);
  }
  const Placer placer(diagram, sizes, placement);
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    placement.columns.push_back(placer.place(n, x));
    x += (sizes[n].width() + measures.columns) * placement.unit;
  }
  return placement;
}

// Merges as many notes of each box as fit into one line. Removes all notes unless `keeps_note`.
void shorten_notes(const Page& page, Diagram& diagram, bool keeps_note) {
  const M compact = M::compact();
  const auto merge = [&](DiagramPart& part) {
    if (part.notes.empty()) return;
    const double reserved = part.tap != nullptr ? kThumbnailWidth : 0.7;
    // Width at font size em.
    const double width = (compact.part - reserved) / compact.note * page.em();
    std::string note = part.notes.front();
    const std::size_t comma = note.find(", ");  // explanation of a size
    if (part.kind != Kind::Words && page.width_of(note, page.em()) > width) {
      note.resize(std::min(comma, note.size()));
    }
    for (std::size_t n = 1; n < part.notes.size(); ++n) {
      const std::string longer = note + " · " + part.notes[n];
      if (page.width_of(longer, page.em()) <= width) note = longer;
    }
    part.notes.clear();
    if (keeps_note || part.kind == Kind::Words) part.notes = {note};
  };
  for (DiagramColumn& column : diagram.columns) {
    for (DiagramRow& row : column.rows) {
      std::ranges::for_each(row.parts, merge);
      if (row.left) merge(*row.left);
      if (row.right) merge(*row.right);
    }
  }
}

}  // namespace

std::optional<PlacedDiagram> place_diagram(const Page& page, const Box& inside, Diagram diagram) {
  const auto legible = [&](const std::optional<Placement>& placed, double min_size) {
    return placed && placed->unit * placed->measures.note >= page.legible(min_size * page.em());
  };
  std::optional<Placement> placed = try_place(page, inside, diagram, {});
  for (const bool keeps_note : {true, false}) {
    if (legible(placed, keeps_note ? kSmallNote : kMinNote)) break;
    shorten_notes(page, diagram, keeps_note);
    placed = try_place(page, inside, diagram, M::compact());
  }
  for (const bool is_narrow : {false, true}) {
    if (!placed) placed = try_place(page, inside, diagram, M::dense(is_narrow));
  }
  if (!placed) return std::nullopt;
  return PlacedDiagram{std::move(diagram), *std::move(placed)};
}

}  // namespace attnscope
