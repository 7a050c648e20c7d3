#include "core/view/architecture/placement.h"

#include <algorithm>

namespace attnscope {
namespace {

using Kind = DiagramPart::Kind;
using M = DiagramMeasures;

// In units.
constexpr double kWidths[] = {22, 28};  // of two parts side by side, and of more
constexpr double kBetweenParts = 0.7;
constexpr double kSideWidth = 11;   // width of a neighbouring part
constexpr double kLoopWidth = 7.5;  // "up to T = 6 times", in two lines
constexpr double kGateWidth = 12;
constexpr double kThumbnailWidth = 4;
constexpr double kTitleHeight = 2;

constexpr double kMinUnit = 0.6, kMaxUnit = 1.25;  // em
constexpr double kSmallNote = 0.72;                // em: below this, notes use one larger line
constexpr double kMinNote = 0.65;                  // em

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
    if (side) height = std::max(height, 0.55 * height_of(*side, m));  // may overlap the gaps
  }
  return height;
}

struct ColumnSize {
  double boxes = 0;               // width of the widest repeated row
  double left = 0, right = 0;     // space next to the boxes
  std::vector<double> bottoms{};  // of rows, above the column's lower end
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
  std::size_t most = 1, most_inside = 1;
  bool left = false, right = false, streams = false, loops = false;
  for (std::size_t r = 0; r < column.rows.size(); ++r) {
    const DiagramRow& row = column.rows[r];
    most = std::max(most, row.parts.size());
    if (is_framed(column, r)) most_inside = std::max(most_inside, row.parts.size());
    left |= row.left.has_value();
    right |= row.right.has_value();
  }
  for (const DiagramFrame& frame : column.frames) {
    streams |= frame.streams;
    loops |= frame.loops;
  }
  size.boxes = width_of_parts(most_inside, m);
  const double margin_left = streams ? M::frame_streams : M::frame_left;
  const double margin_right = streams ? M::frame_streams : M::frame_right;
  size.left = margin_left +
              std::max(left ? M::aside + kSideWidth : 0.0, loops ? M::aside + kLoopWidth : 0.0);
  size.right = margin_right + std::max(right ? M::aside + kSideWidth : 0.0,
                                       column.frames.empty() ? 0.0 : M::aside / 2 + m.label);
  const double wider = (width_of_parts(most, m) - size.boxes) / 2;  // of rows outside the frame
  size.left = std::max(size.left, wider);
  size.right = std::max(size.right, wider);
  double y = column.title.empty() ? 0 : kTitleHeight;
  for (std::size_t r = 0; r < column.rows.size(); ++r) {
    const auto begins = [&](const DiagramFrame& f) { return f.first == r; };
    const auto ended = [&](const DiagramFrame& f) { return r > 0 && f.last == r - 1; };
    double gap = r == 0 ? 0 : m.gap;
    const bool begin = std::ranges::any_of(column.frames, begins);
    const bool end = std::ranges::any_of(column.frames, ended);
    if (begin || end) gap = m.between;
    if (begin) gap += m.frame_below;
    if (end) gap += m.frame_above;
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
        foot_(placement.bottom) {}

  PlacedColumn place(std::size_t n, double x) const {
    const DiagramColumn& column = diagram_.columns[n];
    const ColumnSize& size = sizes_[n];
    PlacedColumn placed;
    placed.left = x + size.left * unit_;
    placed.right = placed.left + size.boxes * unit_;
    placed.centre = (placed.left + placed.right) / 2;
    placed.title = {placed.centre, foot_ - 0.5 * unit_};
    for (std::size_t r = 0; r < column.rows.size(); ++r) place_row(column, size, r, placed);
    for (const DiagramFrame& f : column.frames) placed.frames.push_back(frame_box(placed, f));
    for (std::size_t r = 0; r < column.rows.size(); ++r) place_neighbours(column, r, placed);
    return placed;
  }

 private:
  double width_of(const DiagramPart& part, double whole) const {
    switch (part.kind) {
      case Kind::Sum:
        return 2 * M::circle * unit_;
      case Kind::Gate:
        return kGateWidth * unit_;
      default:
        return whole;
    }
  }

  void place_row(const DiagramColumn& column, const ColumnSize& size, std::size_t r,
                 PlacedColumn& placed) const {
    const DiagramRow& row = column.rows[r];
    const double bottom = foot_ - size.bottoms[r] * unit_, height = size.heights[r] * unit_;
    const auto count = static_cast<double>(row.parts.size());
    const double whole = width_of_parts(row.parts.size(), m_) * unit_;
    const double each = (whole - (count - 1) * kBetweenParts * unit_) / count;
    std::vector<Box> boxes;
    double x = placed.centre - whole / 2;
    for (const DiagramPart& part : row.parts) {
      const double wide = width_of(part, each), high = height_of(part, m_) * unit_;
      double middle = x + each / 2;
      if (row.stream == 0) middle = placed.left - M::skip * unit_;
      if (row.stream == 1) middle = placed.right + M::skip * unit_;
      boxes.push_back({middle - wide / 2, bottom - (height + high) / 2, wide, high});
      x += each + kBetweenParts * unit_;
    }
    placed.parts.push_back(std::move(boxes));
  }

  Box frame_box(const PlacedColumn& placed, const DiagramFrame& frame) const {
    const double left = frame.streams ? M::frame_streams : M::frame_left;
    const double right = frame.streams ? M::frame_streams : M::frame_right;
    const double top = placed.parts[frame.last].front().y - m_.frame_above * unit_;
    const double bottom = placed.parts[frame.first].front().bottom() + m_.frame_below * unit_;
    const double x = placed.left - left * unit_;
    return {x, top, placed.right + right * unit_ - x, bottom - top};
  }

  void place_neighbours(const DiagramColumn& column, std::size_t r, PlacedColumn& placed) const {
    const DiagramRow& row = column.rows[r];
    const Box& main = placed.parts[r].front();
    const bool streams = std::ranges::any_of(column.frames, &DiagramFrame::streams);
    const double left = streams ? M::frame_streams : M::frame_left;
    const double right = streams ? M::frame_streams : M::frame_right;
    const auto box = [&](const DiagramPart& part, double x) {
      const double high = height_of(part, m_) * unit_;
      return Box{x, main.y + main.height / 2 - high / 2, kSideWidth * unit_, high};
    };
    placed.left_parts.push_back(
        row.left ? box(*row.left, placed.left - (left + M::aside + kSideWidth) * unit_) : Box());
    placed.right_parts.push_back(
        row.right ? box(*row.right, placed.right + (right + M::aside) * unit_) : Box());
  }

  const Diagram& diagram_;
  const std::vector<ColumnSize>& sizes_;
  const M& m_;
  double unit_, foot_;
};

// Height by which neighbours of the first and last row exceed these rows.
double overhang(const DiagramColumn& column, const M& m) {
  double over = 0;
  for (const DiagramRow* row : {&column.rows.front(), &column.rows.back()}) {
    for (const auto& side : {row->left, row->right}) {
      if (side) over = std::max(over, (height_of(*side, m) - height_of(*row, m)) / 2);
    }
  }
  return std::max(0.0, over);
}

std::optional<Placement> try_place(const Page& page, const Box& inside, const Diagram& diagram,
                                   const M& measures) {
  std::vector<ColumnSize> sizes;
  double width = 0, height = 0, over = 0;
  for (const DiagramColumn& column : diagram.columns) {
    sizes.push_back(measure(column, measures));
    width += sizes.back().width() + (sizes.size() > 1 ? measures.columns : 0.0);
    height = std::max(height, sizes.back().height);
    over = std::max(over, overhang(column, measures));
  }
  height += over;
  const double em = page.em();
  const double fits = std::min(inside.width / width, inside.height / height);
  if (!(fits >= kMinUnit * em)) return std::nullopt;
  Placement placement;
  placement.measures = measures;
  placement.unit = std::min(fits, kMaxUnit * em);
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

// Merges the notes of each box that fit into one line; drops them unless `keeps_note`.
void shorten_notes(const Page& page, Diagram& diagram, bool keeps_note) {
  const M compact = M::compact();
  const auto merge = [&](DiagramPart& part) {
    if (part.notes.empty()) return;
    const double reserved = part.tap != nullptr ? kThumbnailWidth : 0.7;
    const double width = (compact.part - reserved) / compact.note * page.em();  // at font size em
    std::string note = part.notes.front();
    const std::size_t comma = note.find(", ");  // explanation of a size
    if (part.kind != Kind::Words && page.width_of(note, page.em()) > width) {
      note.resize(std::min(comma, note.size()));
    }
    for (std::size_t n = 1; n < part.notes.size(); ++n) {
      const std::string more = note + " · " + part.notes[n];
      if (page.width_of(more, page.em()) <= width) note = more;
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
  const auto legible = [&](const std::optional<Placement>& placed, double least) {
    return placed && placed->unit * placed->measures.note >= least * page.em();
  };
  std::optional<Placement> placed = try_place(page, inside, diagram, {});
  for (const bool keeps_note : {true, false}) {
    if (legible(placed, keeps_note ? kSmallNote : kMinNote)) break;
    shorten_notes(page, diagram, keeps_note);
    placed = try_place(page, inside, diagram, M::compact());
  }
  if (!placed) return std::nullopt;
  return PlacedDiagram{std::move(diagram), *std::move(placed)};
}

}  // namespace attnscope
