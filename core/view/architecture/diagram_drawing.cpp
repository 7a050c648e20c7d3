#include "core/view/architecture/diagram_drawing.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/view/architecture/diagram_words.h"

namespace attnscope {
namespace {

using Kind = DiagramPart::Kind;
using M = DiagramMeasures;

constexpr double kSmallestHead = 5;   // pixels, length of an arrow head
constexpr double kThumbnail = 3.2;    // units, side of a thumbnail
constexpr Index kMaxThumbnail = 512;  // maximum number of queries and keys of a thumbnail

Colour hue_of(Kind kind) {
  switch (kind) {
    case Kind::Embedding:
      return {208, 86, 130};
    case Kind::Norm:
      return {196, 168, 30};
    case Kind::Attention:
      return {230, 120, 30};
    case Kind::FeedForward:
      return {40, 116, 200};
    case Kind::Gate:
      return {160, 80, 190};
    case Kind::Cell:
      return {40, 150, 90};
    case Kind::Output:
      return {40, 150, 90};
    case Kind::Memory:
      return {120, 100, 210};
    case Kind::Exit:
      return {0, 145, 160};
    default:
      return {120, 128, 140};
  }
}

double middle_x(const Box& box) {
  return box.x + box.width / 2;
}
double middle_y(const Box& box) {
  return box.y + box.height / 2;
}

class Drawing {
 public:
  Drawing(Page& page, const Diagram& diagram, const Placement& placement)
      : page_(page),
        diagram_(diagram),
        placement_(placement),
        m_(placement.measures),
        u_(placement.unit) {}

  void draw() {
    for (std::size_t n = 0; n < diagram_.columns.size(); ++n) {
      const DiagramColumn& column = diagram_.columns[n];
      const PlacedColumn& placed = placement_.columns[n];
      for (std::size_t f = 0; f < column.frames.size(); ++f) {
        draw_frame(column.frames[f], placed.frames[f]);
      }
      for (std::size_t r = 0; r + 1 < column.rows.size(); ++r) connect(column, placed, r);
      for (std::size_t r = 0; r < column.rows.size(); ++r) draw_paths(column, placed, r);
      for (std::size_t f = 0; f < column.frames.size(); ++f) {
        if (column.frames[f].has_streams) draw_streams(column, placed, column.frames[f]);
        if (column.frames[f].loops) draw_loop(column.frames[f], placed, placed.frames[f]);
      }
      if (!column.title.empty()) {
        page_.add(
            Text{placed.title, column.title, page_.theme().text, 1.1 * u_, Align::Middle, 0, true});
      }
    }
    for (std::size_t n = 0; n < diagram_.links.size(); ++n) draw_link(diagram_.links[n], n);
    for (const PlacedPart& part : placed_parts(diagram_, placement_)) {
      draw_part(*part.part, part.box);
    }
  }

 private:
  Colour ink() const { return blend(page_.theme().background, page_.theme().text, 0.72); }
  double thickness() const { return std::max(1.2, 0.1 * u_); }

  void line(std::vector<Point> points) { page_.add(Line{std::move(points), ink(), thickness()}); }

  // Draws a polyline that ends in an arrow head.
  void arrow_along(std::vector<Point> points) {
    const Point to = points.back(), from = points[points.size() - 2];
    const double head = std::max(kSmallestHead, 0.42 * u_);
    const double span = std::max(1e-9, std::hypot(to.x - from.x, to.y - from.y));
    const Point back{to.x - (to.x - from.x) / span * head, to.y - (to.y - from.y) / span * head};
    const Point side{(to.y - from.y) / span * head * 0.5, (to.x - from.x) / span * head * 0.5};
    line(std::move(points));
    page_.add(Line{{{back.x + side.x, back.y - side.y}, to, {back.x - side.x, back.y + side.y}},
                   ink(),
                   thickness()});
  }

  void draw_frame(const DiagramFrame& frame, const Box& box) {
    const Theme& theme = page_.theme();
    draw_rounded(box, blend(theme.background, theme.text, 0.045),
                 frame.is_selected ? theme.accent : theme.line, frame.is_selected ? 2 : 1.2,
                 0.6 * u_);
    double y = middle_y(box) - 0.6 * static_cast<double>(frame.labels.size() - 1) * u_;
    const double x = box.right() + M::aside / 2 * u_;
    for (std::size_t n = 0; n < frame.labels.size(); ++n) {
      const double size = n > 0 ? note_size() : frame.labels.size() > 1 ? 1.5 * u_ : u_;
      const Colour colour = n == 0 ? theme.text : n == 2 ? theme.accent : theme.faint_text;
      page_.add(Text{{x, y}, frame.labels[n], colour, size, Align::Start, 0, n == 0});
      y += (n == 0 ? 1.5 : M::note_line + 0.1) * u_;
    }
  }

  void draw_rounded(const Box& box, Colour fill, Colour edge, double thick, double radius) {
    page_.add(FilledBox{box, edge, radius});
    page_.add(
        FilledBox{{box.x + thick, box.y + thick, box.width - 2 * thick, box.height - 2 * thick},
                  fill,
                  std::max(0.0, radius - thick)});
  }

  static const DiagramFrame* frame_of_row(const DiagramColumn& column, std::size_t r) {
    for (const DiagramFrame& f : column.frames) {
      if (r >= f.first && r <= f.last) return &f;
    }
    return nullptr;
  }

  // Draws arrows from row r to the next.
  void connect(const DiagramColumn& column, const PlacedColumn& placed, std::size_t r) {
    const DiagramFrame* current = frame_of_row(column, r);
    const DiagramFrame* next = frame_of_row(column, r + 1);
    const bool has_streams = (current && current->has_streams) || (next && next->has_streams);
    if (has_streams) return;  // see draw_streams()
    const std::vector<Box>&from = placed.parts[r], &to = placed.parts[r + 1];
    if (from.size() == to.size()) {
      for (std::size_t n = 0; n < from.size(); ++n) {
        arrow_along({{middle_x(to[n]), from[n].y}, {middle_x(to[n]), to[n].bottom()}});
      }
      return;
    }
    const double half = to.front().bottom() + m_.gap / 2 * u_;
    if (from.size() == 1) {
      const Point start{placed.centre, from[0].y};
      for (const Box& box : to) {
        arrow_along({start, {start.x, half}, {middle_x(box), half}, {middle_x(box), box.bottom()}});
      }
      return;
    }
    for (const Box& box : from) {
      const double x = middle_x(box), bus = box.y - m_.gap / 2 * u_;
      arrow_along({{x, box.y}, {x, bus}, {placed.centre, bus}, {placed.centre, to[0].bottom()}});
    }
  }

  // Draws the bypass that ends at row `r`, and the row's arrows from `left` and to `right`.
  void draw_paths(const DiagramColumn& column, const PlacedColumn& placed, std::size_t r) {
    const DiagramRow& row = column.rows[r];
    const Box& main = placed.parts[r].front();
    if (row.bypass_start >= 0) {
      const Box& first = placed.parts[static_cast<std::size_t>(row.bypass_start)].front();
      const double from = first.bottom() + m_.gap / 2 * u_;
      const double x = placed.left - M::skip * u_;
      arrow_along(
          {{placed.centre, from}, {x, from}, {x, middle_y(main)}, {main.x, middle_y(main)}});
    }
    if (row.left) {
      const Box& box = placed.left_parts[r];
      double end = main.x;
      if (row.parts.front().kind == Kind::Words) {
        end = placed.centre - page_.width_of(row.parts.front().title, u_) / 2 - 0.5 * u_;
      }
      arrow_along({{box.right(), middle_y(box)}, {end, middle_y(box)}});
    }
    if (row.right) {
      const Box& box = placed.right_parts[r];
      const Box& last = placed.parts[r].back();
      arrow_along({{last.right(), middle_y(box)}, {box.x, middle_y(box)}});
    }
  }

  // Draws the two streams of reversible layers, from the frame's input to their mean.
  void draw_streams(const DiagramColumn& column, const PlacedColumn& placed,
                    const DiagramFrame& frame) {
    const double left = placed.left - M::skip * u_, right = placed.right + M::skip * u_;
    const double centre = placed.centre;
    const Box& frame_box = placed.frames[static_cast<std::size_t>(&frame - column.frames.data())];
    const double split = frame_box.bottom() + 0.4 * u_, merge = frame_box.y - 0.4 * u_;
    if (frame.first > 0) {
      line({{centre, placed.parts[frame.first - 1].front().y}, {centre, split}});
    }
    line({{left, merge}, {left, split}, {right, split}, {right, merge}, {left, merge}});
    if (frame.last + 1 < column.rows.size()) {
      arrow_along({{centre, merge}, {centre, placed.parts[frame.last + 1].front().bottom()}});
    }
    double source = right;  // input of the next block: the first block reads the right stream
    bool is_first = true;
    for (std::size_t r = frame.first; r <= frame.last; ++r) {
      const Box& box = placed.parts[r].front();
      const int stream = column.rows[r].stream;
      if (stream >= 0) {
        const double x = stream == 0 ? left : right;
        const double edge = stream == 0 ? box.right() : box.x;
        arrow_along({{centre, placed.parts[r - 1].front().y},
                     {centre, middle_y(box)},
                     {edge, middle_y(box)}});
        source = x;
        is_first = true;
      } else if (is_first) {
        const double y = box.bottom() + m_.gap / 2 * u_;
        arrow_along({{source, y}, {centre, y}, {centre, box.bottom()}});
        is_first = false;
      } else {
        arrow_along({{centre, placed.parts[r - 1].front().y}, {centre, box.bottom()}});
      }
    }
  }

  // Draws the loop from the end of a frame to its start.
  void draw_loop(const DiagramFrame& frame, const PlacedColumn& placed, const Box& box) {
    const double above = box.y - 0.45 * u_, under = box.bottom() + 0.45 * u_;
    const double x = box.x - 0.9 * u_;
    arrow_along({{placed.centre, above}, {x, above}, {x, under}, {placed.centre, under}});
    const std::size_t space = frame.loop.rfind(' ');
    const double right = x - 0.5 * u_;
    page_.add(Text{{right, middle_y(box) - 0.6 * u_},
                   frame.loop.substr(0, space),
                   page_.theme().text,
                   u_,
                   Align::End,
                   0,
                   true});
    page_.add(Text{{right, middle_y(box) + 0.6 * u_},
                   frame.loop.substr(space + 1),
                   page_.theme().faint_text,
                   note_size(),
                   Align::End});
  }

  void draw_link(const DiagramLink& link, std::size_t n) {
    const PlacedColumn &a = placement_.columns[0], &b = placement_.columns[1];
    const Box& from = link.from_top ? a.parts[link.from].front() : a.parts[link.from].back();
    const Box& to = b.parts[link.to].front();
    // Each arrow has its own x in the gap between the columns.
    double end = a.right;
    for (const Box& frame : a.frames) end = std::max(end, frame.right());
    double begin = b.left;
    for (const Box& frame : b.frames) begin = std::min(begin, frame.x);
    const double x = begin - (1.1 + 0.8 * static_cast<double>(n)) * u_;
    if (!link.from_top) {
      const double y = middle_y(from);
      arrow_along({{from.right(), y}, {x, y}, {x, middle_y(to)}, {to.x, middle_y(to)}});
      return;
    }
    const double top = from.y - 0.8 * u_;
    arrow_along({{middle_x(from), from.y},
                 {middle_x(from), top},
                 {std::max(x, end), top},
                 {std::max(x, end), middle_y(to)},
                 {to.x, middle_y(to)}});
  }

  void draw_part(const DiagramPart& part, const Box& box) {
    const Theme& theme = page_.theme();
    if (part.kind == Kind::Words) return draw_words(part, box, box.x, box.width, 0);
    const Colour hue = hue_of(part.kind);
    const Colour fill = blend(theme.background, hue, theme.is_dark() ? 0.36 : 0.2);
    const std::optional<Point>& pointer = page_.input().interaction.pointer;
    const bool is_hovered = pointer && box.contains(*pointer);
    const Colour edge = is_hovered ? theme.accent : blend(theme.background, hue, 0.85);
    const double radius = part.kind == Kind::Sum ? box.height / 2 : 0.35 * u_;
    draw_rounded(box, fill, edge, is_hovered ? 2.5 : 1.3, radius);
    if (part.kind == Kind::Sum) {
      const double r = 0.32 * u_, x = middle_x(box), y = middle_y(box);
      page_.add(Line{{{x - r, y}, {x + r, y}}, theme.text, 1.4 * thickness()});
      page_.add(Line{{{x, y - r}, {x, y + r}}, theme.text, 1.4 * thickness()});
      return;
    }
    double left = box.x + 0.35 * u_, right = box.right() - 0.35 * u_;
    const double margins = draw_thumbnail(part, box, left);
    if (part.loops) draw_state_loop(box);
    const std::string count = part.parameters > 0 ? format_parameters(part.parameters) : "";
    const double count_size = page_.legible(0.72 * u_);
    const double count_width = count.empty() ? 0 : page_.width_of(count, count_size) + 0.4 * u_;
    // The title has priority over the parameter count.
    const bool shows_count = right - left - margins - count_width >
                             std::max(5 * u_, page_.width_of(part.title, title_size(part), true));
    if (!count.empty() && shows_count) {
      page_.faint_text({right, std::min(box.y + 0.75 * u_, middle_y(box))}, count, count_size,
                       Align::End);
    }
    draw_words(part, box, left + margins, right - left - margins, shows_count ? count_width : 0);
  }

  static bool is_plain(const DiagramPart& part) {
    return part.kind == Kind::Norm || part.kind == Kind::Position;
  }
  double title_size(const DiagramPart& part) const {
    return page_.legible((is_plain(part) ? 0.9 : 1.0) * u_);
  }
  double note_size() const { return page_.legible(m_.note * u_); }

  // Draws a head's weights with the left edge at `left`. Returns the width used.
  double draw_thumbnail(const DiagramPart& part, const Box& box, double left) {
    if (part.tap == nullptr || box.width < 10 * u_) return 0;
    const AttentionTap& tap = *part.tap;
    if (!tap.result.pattern || tap.heads.empty() || tap.queries() > kMaxThumbnail ||
        tap.keys() > kMaxThumbnail || !tap.stores_map()) {
      return 0;
    }
    const auto found = std::ranges::find(tap.heads, page_.input().session.view.head);
    const Index head = found == tap.heads.end() ? 0 : found - tap.heads.begin();
    const double side = std::min(box.height - 0.7 * u_, kThumbnail * u_);
    HeatMap map;
    map.box = {left, middle_y(box) - side / 2, side, side};
    map.values = tap.attention(head);
    map.width = static_cast<double>(tap.keys());
    map.height = static_cast<double>(tap.queries());
    map.colour_map = page_.input().session.view.colour_map;
    if (colour_map(map.colour_map).diverging()) map.colour_map = "viridis";
    page_.add(map);
    return side + 0.3 * u_;
  }

  void draw_state_loop(const Box& box) {
    const double y = middle_y(box), right = box.right(), x = right + 0.9 * u_;
    arrow_along(
        {{right, y - 0.6 * u_}, {x, y - 0.6 * u_}, {x, y + 0.6 * u_}, {right, y + 0.6 * u_}});
  }

  // Centres title and notes in [x, x + width]. The title's line ends `count_width` pixels earlier.
  void draw_words(const DiagramPart& part, const Box& box, double x, double width,
                  double count_width) {
    const Theme& theme = page_.theme();
    const bool plain = is_plain(part);
    const double title = title_size(part);
    const bool bold = !plain && part.kind != Kind::Words;
    const double height = 1.15 * title + M::note_line * u_ * static_cast<double>(part.notes.size());
    double y = middle_y(box) - height / 2 + 0.58 * title;
    const auto centre = [&](const std::string& text, double size, bool strong) {
      const double text_width = page_.width_of(text, size, strong);
      return std::min(x + width / 2, x + width - count_width - text_width / 2);
    };
    const std::string name = page_.ellipsised(part.title, title, width - count_width, bold);
    page_.add(
        Text{{centre(name, title, bold), y}, name, theme.text, title, Align::Middle, 0, bold});
    y += 0.58 * title + M::note_line / 2 * u_;
    for (const std::string& note : part.notes) {
      const double size = note_size();
      const std::string text = page_.ellipsised(note, size, width);
      page_.add(Text{
          {x + width / 2, y},
          text,
          part.kind == Kind::Words ? theme.faint_text : blend(theme.background, theme.text, 0.85),
          size,
          Align::Middle});
      y += M::note_line * u_;
    }
  }

  Page& page_;
  const Diagram& diagram_;
  const Placement& placement_;
  const M& m_;
  double u_;
};

}  // namespace

void draw_diagram(Page& page, const Diagram& diagram, const Placement& placement) {
  Drawing(page, diagram, placement).draw();
}

std::vector<PlacedPart> placed_parts(const Diagram& diagram, const Placement& placement) {
  std::vector<PlacedPart> placed_list;
  for (std::size_t n = 0; n < diagram.columns.size(); ++n) {
    const DiagramColumn& column = diagram.columns[n];
    const PlacedColumn& placed = placement.columns[n];
    for (std::size_t r = 0; r < column.rows.size(); ++r) {
      const DiagramRow& row = column.rows[r];
      for (std::size_t p = 0; p < row.parts.size(); ++p) {
        placed_list.push_back({&row.parts[p], placed.parts[r][p]});
      }
      if (row.left) placed_list.push_back({&*row.left, placed.left_parts[r]});
      if (row.right) placed_list.push_back({&*row.right, placed.right_parts[r]});
    }
  }
  return placed_list;
}

}  // namespace attnscope
