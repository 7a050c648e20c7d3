// Lines view: queries and keys in two columns, joined by curves whose width shows the weight.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/view/export/view_data.h"
#include "core/view/lines/arcs.h"
#include "core/view/lines/line_set.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/shapes.h"
#include "core/view/parts/token_axis.h"
#include "core/view/parts/word_merging.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMaxCellHeight = 2.3;  // em
constexpr double kMaxLabels = 0.3;      // fraction of the width for the labels of one column
constexpr double kMinDistance = 4;      // em between queries and keys
constexpr double kMaxDistance = 34;     // em
constexpr double kNoteLine = 1.3;       // em: note about missing lines
constexpr double kMinCell = 3;          // pixels: minimum height of a token for hovering

// The columns of queries and keys, and the lines between them.
struct Sides {
  TokenAxis queries, keys;
  CellSpan rows, columns;
  Box plot;                    // area of the lines, between the labels
  double left = 0, right = 0;  // width of the labels

  AxisPlace query_place() const { return {rows.first, rows.extent, plot.y, plot.height}; }
  AxisPlace key_place() const { return {columns.first, columns.extent, plot.y, plot.height}; }
};

Sides place_sides(const Page& page, const Box& box, const AttentionTap& tap) {
  const ViewInput& input = page.input();
  const ViewSettings& settings = input.session.view;
  Sides sides;
  sides.queries = query_axis(input.trace, tap);
  sides.keys = key_axis(input.trace, tap);
  sides.rows = visible_span(settings.row, settings.width > 0 ? settings.height : 0, tap.queries());
  sides.columns =
      visible_span(settings.column, settings.height > 0 ? settings.width : 0, tap.keys());
  const double em = page.em(), max_depth = std::min(12 * em, kMaxLabels * box.width);
  const auto max_count = static_cast<double>(std::max(tap.queries(), tap.keys()));
  const double height = std::min(box.height, max_count * kMaxCellHeight * em);
  sides.left = axis_depth_left(page, sides.queries, height, max_depth);
  sides.right = axis_depth_left(page, sides.keys, height, max_depth);
  const double width = std::min(box.width - sides.left - sides.right, kMaxDistance * em);
  if (width < kMinDistance * em || height < 2 * em) return sides;
  sides.plot = {box.x + (box.width - sides.left - sides.right - width) / 2 + sides.left,
                box.y + page.top_margin(box.height, height), width, height};
  return sides;
}

Line pair_curve(const Sides& sides, const WeightedPair& pair, Colour colour, double thickness) {
  return s_curve({sides.plot.x, sides.query_place().centre(pair.query)},
                 {sides.plot.right(), sides.key_place().centre(pair.key)}, colour, thickness);
}

Index cell_at(const AxisPlace& place, Index count, double pixel) {
  const double index = std::floor(place.first + (pixel - place.from) / place.cell());
  return index >= 0 && index < static_cast<double>(count) ? static_cast<Index>(index) : -1;
}

// Hit test of labels and lines; may outlive the page.
struct LineHitTest {
  Sides sides;
  std::vector<WeightedPair> pairs;  // weakest first; the strongest wins among equally near lines
  double max_distance = 0;          // pixels from the point to a line

  LineFocus operator()(Point p) const {
    LineFocus focus;
    const Box& plot = sides.plot;
    if (!(plot.width > 0) || p.y < plot.y || p.y >= plot.bottom()) return focus;
    if (p.x < plot.x && p.x >= plot.x - sides.left) {
      focus.query = cell_at(sides.query_place(), sides.queries.count(), p.y);
    } else if (p.x >= plot.right() && p.x < plot.right() + sides.right) {
      focus.key = cell_at(sides.key_place(), sides.keys.count(), p.y);
    } else if (plot.contains(p)) {
      double nearest = max_distance;
      for (auto pair = pairs.rbegin(); pair != pairs.rend(); ++pair) {
        const double distance_to_pair = distance(*pair, p);
        if (distance_to_pair >= nearest) continue;
        nearest = distance_to_pair;
        focus = {pair->query, pair->key, pair->head};
      }
    }
    return focus;
  }

  // Distance of the point to the tangent of the pair's curve, in pixels.
  double distance(const WeightedPair& pair, Point p) const {
    const std::vector<Point> points = pair_curve(sides, pair, {}, 1).points;
    const auto next = std::upper_bound(points.begin() + 1, points.end() - 1, p.x,
                                       [](double x, const Point& point) { return x < point.x; });
    const Point a = *(next - 1), b = *next;
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    if (!(length > 0)) return std::hypot(p.x - a.x, p.y - a.y);
    return std::abs((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) / length;
  }
};

// Shades the tokens at the other end of the focused lines by weight, in a column per head.
void shade_tokens(Page& page, const Sides& sides, const LineSet& set, const LineFocus& focus) {
  const bool is_query = focus.query >= 0;
  const AxisPlace place = is_query ? sides.key_place() : sides.query_place();
  const double depth = is_query ? sides.right : sides.left, gap = 0.25 * page.em();
  const double width = (depth - 1.7 * page.em()) / static_cast<double>(set.heads.size());
  if (!(width > 0)) return;
  page.add(Clip{Box{0, sides.plot.y, page.input().canvas.width, sides.plot.height}});
  for (const WeightedPair& pair : set.pairs) {
    if (!focus.matches(pair)) continue;
    const auto head = std::lower_bound(set.heads.begin(), set.heads.end(), pair.head);
    const auto column = static_cast<double>(head - set.heads.begin());
    const double x = is_query ? sides.plot.right() + gap + column * width
                              : sides.plot.x - gap - (column + 1) * width;
    const double cell = place.cell(), y = place.centre(is_query ? pair.key : pair.query);
    page.add(FilledBox{{x, y - cell / 2, width, cell},
                       translucent(line_colour(page, pair, true), 0.45)});
  }
  page.add(Clip{});
}

void add_token_handles(const Sides& sides, std::vector<Handle>& handles) {
  const auto add = [&](const AxisPlace& place, Index count, double x, double width, bool is_query) {
    if (place.cell() < kMinCell) return;
    for (Index i = 0; i < count; ++i) {
      const double y = place.centre(i) - place.cell() / 2;
      if (y + place.cell() <= sides.plot.y || y >= sides.plot.bottom()) continue;
      handles.push_back({.area = {x, y, width, place.cell()},
                         .help = "Click to pin its lines",
                         .click = [i, is_query](Session& session) {
                           is_query ? toggle_pinned_query(session, i)
                                    : toggle_pinned_key(session, i);
                         }});
    }
  };
  add(sides.query_place(), sides.queries.count(), sides.plot.x - sides.left, sides.left, true);
  add(sides.key_place(), sides.keys.count(), sides.plot.right(), sides.right, false);
}

// Draws lines and tokens. Returns the lower edge of the content.
double draw_sides(Page& page, const Sides& sides, const LineSet& set, const LineFocus& focus) {
  if (focus.is_set()) shade_tokens(page, sides, set, focus);
  page.add(Clip{sides.plot});
  for (const bool in_focus : {false, true}) {
    for (const WeightedPair& pair : set.pairs) {
      if (focus.matches(pair) != in_focus) continue;
      page.add(pair_curve(sides, pair, line_colour(page, pair, in_focus),
                          line_thickness(page, pair, sides.query_place().cell())));
    }
  }
  page.add(Clip{});
  draw_axis_left(page, sides.queries, sides.query_place(), sides.plot.x, sides.left, focus.query);
  draw_axis_right(page, sides.keys, sides.key_place(), sides.plot.right(), sides.right, focus.key);
  return sides.plot.bottom();
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const AttentionTap& tap = *selected.tap;
  constexpr Index kMaxPairs = Index{1} << 24;
  if (tap.queries() > kMaxPairs / tap.keys()) {
    return page.message("Too many tokens for lines",
                        "Lines show up to 4,096 tokens. The map shows longer texts.");
  }
  const Values values = view_values(input.session.view, "lines");
  if (values.choice("style") == "arcs") return lay_out_arcs(input, page, tap, values);

  const ViewSettings& settings = input.session.view;
  const CellSpan rows =
      visible_span(settings.row, settings.width > 0 ? settings.height : 0, tap.queries());
  const CellSpan columns =
      visible_span(settings.column, settings.height > 0 ? settings.width : 0, tap.keys());
  const LineSet set = line_set(input, tap, values, rows, columns);
  const Box inside =
      page.frame(lines_title(input, set),
                 caption(input.trace, lines_caption(input, tap, set, values.real("least"))));
  const std::string note = explain_missing_lines(set, rows, values.real("least"), "line");
  const double legend = head_legend_height(page, set, inside.width);
  const double header = legend + (note.empty() ? 0.5 : 0.5 + kNoteLine) * page.em();
  const Sides sides =
      place_sides(page, {inside.x, inside.y + header, inside.width, inside.height - header}, tap);
  if (!(sides.plot.width > 0)) return no_space(page);
  LineHitTest focus_at{sides, set.pairs, 0.45 * page.em()};
  LineFocus focus = pinned_focus(input, tap);
  if (input.interaction.pointer) {
    if (const LineFocus hovered = focus_at(*input.interaction.pointer); hovered.is_set())
      focus = hovered;
  }
  ViewLayout layout;
  draw_head_legend(page, set, {inside.x, inside.y, inside.width, header}, layout.handles);
  page.faint_text({inside.x, inside.y + legend + kNoteLine / 2 * page.em()},
                  page.ellipsised(note, page.small(), inside.width), page.small());
  const double bottom = draw_sides(page, sides, set, focus);
  add_token_handles(sides, layout.handles);
  layout.plot = sides.plot;
  layout.row = sides.rows.first;
  layout.height = sides.rows.extent;
  layout.column = sides.columns.first;
  layout.width = sides.columns.extent;
  layout.columns_run_across = false;
  layout.hit = [focus_at = std::move(focus_at), layer = settings.layer,
                head = set.heads.front()](Point p) -> std::optional<Hit> {
    const LineFocus hovered = focus_at(p);
    if (!hovered.is_set()) return std::nullopt;
    return Hit{layer, hovered.head >= 0 ? hovered.head : head, hovered.query, hovered.key};
  };
  layout.list = page.take(bottom);
  return layout;
}

// "layer 1, heads 0, 2", "layer 1, heads 0–31".
std::string describe_heads(const ViewInput& input, const LineSet& set) {
  const std::vector<Index>& list = set.heads;
  std::string heads = list.size() == 1 ? "head " : "heads ";
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::size_t last = i;  // end of the consecutive heads from i; at least three form a range
    while (last + 1 < list.size() && list[last + 1] == list[last] + 1) ++last;
    heads += (i > 0 ? ", " : "") + std::to_string(list[i]);
    if (last < i + 2) continue;
    heads += "–" + std::to_string(list[last]);
    i = last;
  }
  return describe_part(input.trace, input.session.view) + "layer " +
         std::to_string(input.session.view.layer) + ", " + heads;
}

}  // namespace

std::string lines_title(const ViewInput& input, const LineSet& set) {
  return picture_title(input.trace, input.part()) + " · " + describe_heads(input, set);
}

std::string lines_caption(const ViewInput& input, const AttentionTap& tap, const LineSet& set,
                          double min_weight) {
  std::string text = "Attention of " + describe_heads(input, set) + ": " +
                     describe(input.trace, tap) + ". Line width shows the weight of the key";
  text += min_weight > 0 ? "; weights below " + brief(min_weight) + " are omitted." : ".";
  if (set.omitted_count > 0) {
    text += " The strongest " + grouped(static_cast<long long>(set.pairs.size())) + " of " +
            grouped(static_cast<long long>(set.pairs.size()) + set.omitted_count) + " are drawn.";
  }
  return text;
}

namespace {

ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  const LineSet set =
      line_set(input, *selected.tap, view_values(input.session.view, "lines"), {}, {});
  ViewData numbers;
  for (const Index head : set.heads) {
    Index group_head = 0;
    const AttentionTap* tap =
        input.trace.find({input.session.view.layer, head, input.part()}, &group_head);
    numbers.matrices.push_back(head_weights(input, *tap, group_head, true));
    if (set.heads.size() > 1) {
      numbers.matrices.back().name = "attention of head " + std::to_string(head);
    }
  }
  return numbers;
}

void restrict_controls(const ViewSettings& settings, const Trace*, ViewControls& controls) {
  const Values values = view_values(settings, "lines");
  controls.hide_colours();
  const bool lists_heads = values.has("heads") && !values.get<std::vector<Index>>("heads").empty();
  controls.head = !values.flag("all") && !lists_heads;
  if (values.flag("all")) controls.idle["heads"] = "All heads are shown.";
}

std::vector<Parameter> parameters() {
  return {{.key = "style",
           .label = "Style",
           .help = "Two columns of tokens, or arcs over one line of text.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("lines"),
           .choices = {"lines", "arcs"}},
          {.key = "all",
           .label = "All heads",
           .help = "Show the lines of all heads of the layer.",
           .kind = Parameter::Kind::Flag,
           .initial = false},
          {.key = "heads",
           .label = "Heads",
           .help = "Heads to show, such as [0, 2]; by default the selected one.",
           .kind = Parameter::Kind::Integers,
           .optional = true,
           .unset_label = "the shown one",
           .initial = std::vector<Index>{0, 1}},
          {.key = "least",
           .label = "Minimum weight",
           .help = "Omit lines of smaller weights.",
           .kind = Parameter::Kind::Real,
           .initial = 0.03,
           .limits = {.min = 0, .max = 1},
           .slider = {.min = 0, .max = 0.5}}};
}

}  // namespace

View lines_view() {
  return with_word_merging(
      {.id = "lines",
       .label = "Lines",
       .group = "Attention",
       .summary = "Queries and keys joined by curves whose width shows the weight, by head.",
       .lay_out = lay_out,
       .reading =
           fixed_reading("A curve connects each token with its keys: the thicker, the larger "
                         "the weight. Point at a token to see only its curves.",
                         {}),
       .data = data,
       .options = {.parameters = parameters(), .restrict_controls = restrict_controls},
       .content = {.objection = objection_without_attention},
       .cells = {.zoom = true}});
}

}  // namespace attnscope
