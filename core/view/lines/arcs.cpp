#include "core/view/lines/arcs.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/view/parts/describe.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {
namespace {

constexpr double kWordGap = 0.9;    // em between words
constexpr double kMaxHeight = 0.5;  // maximum arc height / (2 x picture width)
constexpr double kLoop = 0.5;       // em: half the width of an arc from a token to itself
constexpr double kText = 1.7;       // em: a horizontal line of text
constexpr double kMaxLabel = 10;    // em: length of a vertical label
constexpr double kMinArcCell = 3;   // pixels: minimum width of a clickable token
constexpr double kArcNote = 1.3;    // em: note about missing arcs

// The text on one line, with a token for each column of the map.
struct TextLine {
  TokenAxis tokens;
  Index first_query = 0;  // column of the first query's token
  CellSpan span;
  Box plot;                     // tokens and arcs
  bool is_horizontal = false;   // labels are horizontal
  std::vector<double> centres;  // x of each token in pixels; only set for horizontal labels
  double text_top = 0, text_height = 0;

  AxisPlace place() const { return {span.first, span.extent, plot.x, plot.width}; }
  double centre(Index column) const {
    return is_horizontal ? centres[static_cast<std::size_t>(column)] : place().centre(column);
  }
  // Width of a token in pixels; a typical width for horizontal labels.
  double token_width(const Page& page) const {
    return is_horizontal ? 2 * page.em() : place().cell();
  }
  double half_width(Index column, const Page& page) const {
    if (!is_horizontal) return place().cell() / 2;
    return (page.width_of(tokens.labels[static_cast<std::size_t>(column)], page.em()) +
            kWordGap * page.em()) /
           2;
  }
};

TextLine text_line(const Page& page, const Box& box, const AttentionTap& tap) {
  const ViewInput& input = page.input();
  const ViewSettings& settings = input.session.view;
  const double em = page.em();
  TextLine line;
  line.tokens = key_axis(input.trace, tap);
  line.first_query = tap.keys() - tap.queries();
  const bool is_zoomed = settings.width > 0 && settings.height > 0;
  line.span = visible_span(settings.column, is_zoomed ? settings.width : 0, tap.keys());
  double width = 0;
  for (const std::string& label : line.tokens.labels) {
    width += page.width_of(label, em) + kWordGap * em;
    if (width > box.width) break;
  }
  line.is_horizontal = !is_zoomed && width <= box.width;
  line.plot = {box.x, box.y, box.width, 0};
  if (line.is_horizontal) {
    double x = box.x + (box.width - width) / 2;
    for (const std::string& label : line.tokens.labels) {
      const double word_width = page.width_of(label, em) + kWordGap * em;
      line.centres.push_back(x + word_width / 2);
      x += word_width;
    }
    line.text_height = kText * em;
  } else {
    double longest = em;
    const Index step = label_step(line.place().cell(), 1.2 * em);
    for (Index i = 0; i < line.tokens.count(); ++i) {
      const std::string& label = line.tokens.labels[static_cast<std::size_t>(i)];
      const std::string text = step > 1 ? std::to_string(i) + " " + label : label;
      longest = std::max(longest, page.width_of(text, em));
      if (longest > kMaxLabel * em) break;
    }
    line.text_height = std::min({longest, kMaxLabel * em, 0.4 * box.height}) + em;
  }
  return line;
}

// `rise`: height of the arc relative to half its width.
Line arc_curve(const Page& page, const TextLine& line, const WeightedPair& pair, double rise,
               Colour colour, double thickness) {
  const double from = line.centre(pair.query + line.first_query), to = line.centre(pair.key);
  const bool is_forward = pair.key > pair.query + line.first_query;
  const double min_half = std::min(kLoop * page.em(), line.token_width(page));
  const double half = std::max(std::abs(to - from) / 2, min_half);
  const double base_y = is_forward ? line.text_top + line.text_height : line.text_top;
  const double height = half * rise, direction = is_forward ? 1 : -1;
  const int steps = static_cast<int>(std::clamp(half / 3, 16.0, 72.0));
  Line curve{{}, colour, thickness};
  for (int i = 0; i <= steps; ++i) {
    const double angle = std::numbers::pi * i / steps;
    curve.points.push_back(
        {(from + to) / 2 + half * std::cos(angle), base_y + direction * height * std::sin(angle)});
  }
  return curve;
}

void draw_tokens(Page& page, const TextLine& line, const LineFocus& focus) {
  const double em = page.em();
  const Index step = line.is_horizontal ? 1 : label_step(line.place().cell(), 1.2 * em);
  const Index marked = focus.query >= 0 ? focus.query + line.first_query : focus.key;
  for (Index i = 0; i < line.tokens.count(); ++i) {
    const double x = line.centre(i);
    const bool is_marked = i == marked;
    if (!line.is_horizontal) {
      const bool is_hidden = x < line.plot.x || x > line.plot.right();
      const double distance = marked >= 0 ? std::abs(x - line.centre(marked)) : 1e9;
      if (is_hidden || (!is_marked && (i % step != 0 || distance < 1.2 * em))) continue;
    }
    const std::string& label = line.tokens.labels[static_cast<std::size_t>(i)];
    const std::string text = step > 1 ? std::to_string(i) + " " + label : label;
    const Colour accent = page.theme().accent;
    const Colour colour = is_marked ? ink_on(accent) : page.theme().text;
    if (line.is_horizontal) {
      const double half = page.width_of(text, em) / 2 + 0.3 * em;
      const double middle = line.text_top + line.text_height / 2;
      if (is_marked) {
        page.add(FilledBox{{x - half, middle - 0.65 * em, 2 * half, 1.3 * em}, accent, 0.2 * em});
      }
      page.add(Text{{x, middle}, text, colour, em, Align::Middle});
    } else {
      const std::string label_text = page.ellipsised(text, em, line.text_height - 0.8 * em);
      const double top = line.text_top + 0.4 * em;
      if (is_marked) {
        page.add(FilledBox{
            {x - 0.6 * em, top - 0.2 * em, 1.2 * em, page.width_of(label_text, em) + 0.4 * em},
            accent,
            0.2 * em});
      }
      page.add(Text{{x, top}, label_text, colour, em, Align::End, 90});
    }
  }
}

// Names the directions of the arcs in the left corners of the plot, which are free.
void draw_directions(Page& page, const TextLine& line, const Box& inside, bool has_forward) {
  const double half = 0.7 * page.em(), x = inside.x;
  page.faint_text({x, line.plot.y + half}, "↑ backward", page.small());
  if (has_forward) page.faint_text({x, line.plot.bottom() - half}, "↓ forward", page.small());
}

void add_handles(const Page& page, const TextLine& line, std::vector<Handle>& handles) {
  if (!line.is_horizontal && line.place().cell() < kMinArcCell) return;
  for (Index i = line.first_query; i < line.tokens.count(); ++i) {
    const double half = line.half_width(i, page), x = line.centre(i);
    if (x + half < line.plot.x || x - half > line.plot.right()) continue;
    handles.push_back({.area = {x - half, line.text_top, 2 * half, line.text_height},
                       .help = "Click to pin its arcs",
                       .click = [query = i - line.first_query](Session& session) {
                         toggle_pinned_query(session, query);
                       }});
  }
}

// Places the text in the box, with arcs above it (`sides` 1), or above and below it (2), each
// at most `max_height` high. Returns the arcs' height relative to half their width.
double place_arcs(const Page& page, const Box& box, const LineSet& set, double sides,
                  double max_height, TextLine& line) {
  const double em = page.em();
  double longest = kLoop * em;
  for (const WeightedPair& pair : set.pairs) {
    longest = std::max(
        longest, std::abs(line.centre(pair.query + line.first_query) - line.centre(pair.key)) / 2);
  }
  const double rise = std::min(1.0, std::min(max_height, 2 * kMaxHeight * box.width) / longest);
  const double height = std::min(max_height, rise * longest + 0.3 * em);
  line.text_top = box.y + page.top_margin(box.height, height * sides + line.text_height) + height;
  line.plot.y = line.text_top - height;
  line.plot.height = height * sides + line.text_height;
  return rise;
}

}  // namespace

ViewLayout lay_out_arcs(const ViewInput& input, Page& page, const AttentionTap& tap,
                        const Values& values) {
  const auto& columns = tap.result.columns;
  const bool is_one_text =
      tap.query_rows.stream == tap.key_rows.stream && tap.keys() >= tap.queries() &&
      (columns.empty() ? tap.keys() == tap.queries() : columns.back().first == KeyKind::Token);
  if (!is_one_text) {
    return page.message("Arcs require keys that are tokens",
                        "Keys of this variant are not tokens. The style \"lines\" shows them.");
  }
  const ViewSettings& settings = input.session.view;
  const double em = page.em();
  const bool is_zoomed = settings.width > 0 && settings.height > 0;
  const CellSpan span = visible_span(settings.column, is_zoomed ? settings.width : 0, tap.keys());
  const CellSpan rows{span.first - static_cast<double>(tap.keys() - tap.queries()), span.extent};
  const LineSet set = line_set(input, tap, values, rows, span);
  const Box inside =
      page.frame(lines_title(input, set),
                 caption(input.trace, lines_caption(input, tap, set, values.real("least"))));
  const std::string note = explain_missing_lines(set, rows, values.real("least"), "arc");
  const double legend = head_legend_height(page, set, inside.width);
  const double header = legend + (note.empty() ? 0.8 : 0.8 + kArcNote) * em;
  const Box box{inside.x, inside.y + header, inside.width, inside.height - header};
  TextLine line = text_line(page, box, tap);
  const bool has_forward =
      std::any_of(set.pairs.begin(), set.pairs.end(),
                  [&](const WeightedPair& p) { return p.key > p.query + line.first_query; });
  const double max_height = (box.height - line.text_height) / (has_forward ? 2 : 1);
  if (box.width < 6 * em || max_height < 1.5 * em) return no_space(page);
  const double rise = place_arcs(page, box, set, has_forward ? 2 : 1, max_height, line);
  LineFocus focus = pinned_focus(input, tap);
  const auto focus_at = [line, step = line.is_horizontal ? 0.0 : line.place().cell()](Point p) {
    LineFocus hovered;
    if (!line.plot.contains(p)) return hovered;
    if (p.y < line.text_top || p.y > line.text_top + line.text_height) return hovered;
    for (Index i = line.first_query; i < line.tokens.count(); ++i) {
      const double x = line.centre(i);
      const double next = i + 1 < line.tokens.count() ? line.centre(i + 1) : line.plot.right();
      if (p.x < (step > 0 ? x + step / 2 : (x + next) / 2)) {
        hovered.query = i - line.first_query;
        break;
      }
    }
    return hovered;
  };
  if (input.interaction.pointer) {
    if (const LineFocus hovered = focus_at(*input.interaction.pointer); hovered.is_set())
      focus = hovered;
  }
  ViewLayout layout;
  draw_head_legend(page, set, {inside.x, inside.y, inside.width, header}, layout.handles);
  page.faint_text({inside.x, inside.y + legend + kArcNote / 2 * em},
                  page.ellipsised(note, page.small(), inside.width), page.small());
  page.add(Clip{line.plot});
  for (const bool in_focus : {false, true}) {
    for (const WeightedPair& pair : set.pairs) {
      if (focus.matches(pair) != in_focus) continue;
      page.add(arc_curve(page, line, pair, rise, line_colour(page, pair, in_focus),
                         line_thickness(page, pair, line.token_width(page))));
    }
  }
  page.add(Clip{});
  draw_tokens(page, line, focus);
  draw_directions(page, line, inside, has_forward);
  add_handles(page, line, layout.handles);
  layout.plot = line.plot;
  layout.row = std::max(0.0, rows.first);
  layout.height = std::min(rows.extent, static_cast<double>(tap.queries()));
  layout.column = span.first;
  layout.width = span.extent;
  layout.rows_run_down = false;
  layout.hit = [focus_at, layer = settings.layer,
                head = set.heads.front()](Point p) -> std::optional<Hit> {
    const LineFocus hovered = focus_at(p);
    if (!hovered.is_set()) return std::nullopt;
    return Hit{layer, head, hovered.query, hovered.key};
  };
  layout.list = page.take(line.plot.bottom());
  return layout;
}

}  // namespace attnscope
