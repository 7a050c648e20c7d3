// Graph view: tokens as nodes, attended pairs as edges with widths by weight. Nodes can be moved,
// and edges of the variant Graph can be drawn.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/graph/graph_edges.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/shapes.h"
#include "core/view/parts/token_axis.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "graph";
constexpr double kNode = 0.42;                       // em: radius of a node
constexpr double kThinnest = 0.06, kThickest = 0.5;  // em: width of an edge
constexpr double kManyEdges = 100;                   // edges beyond which negligible ones are faint
constexpr double kMinOpacity = 0.15;                 // of negligible edges

struct Node {
  Point centre;
  std::string label;
};

struct DrawnGraph {
  const AttentionTap& tap;
  Index head;
  Box box;  // area of the node centres
  std::vector<Node> nodes;
  GraphEdges edges;
  Tensor weights;              // [L_q, L_k]
  double largest = 1;          // largest weight of an edge
  Index query = -1, key = -1;  // highlighted nodes; -1: none
  bool is_line = false;        // line layout
  double bottom = 0;           // lower limit of labels
};

// Nodes that the user moved. An entry is {node, x, y, layout}: x and y in ten-thousandths of the
// box, layout as an index into kLayouts. Entries without a layout apply to all layouts.
using MovedNodes = std::vector<std::vector<Index>>;
constexpr double kPlaceUnit = 10000;
constexpr std::array kLayouts{"circle", "line", "springs"};

Index layout_number(const Values& settings) {
  return std::ranges::find(kLayouts, settings.choice("layout")) - kLayouts.begin();
}

bool is_of_layout(const std::vector<Index>& place, Index layout) {
  return place.size() == 3 || (place.size() == 4 && place[3] == layout);
}

std::vector<Point> places_of(const Values& settings, const std::vector<Edge>& edges, Index nodes) {
  std::vector<Point> places = node_places(settings.choice("layout"), nodes, edges);
  if (!settings.has("moved")) return places;
  for (const std::vector<Index>& place : settings.get<MovedNodes>("moved")) {
    if (!is_of_layout(place, layout_number(settings)) || place[0] >= nodes) continue;
    places[static_cast<std::size_t>(place[0])] = {static_cast<double>(place[1]) / kPlaceUnit,
                                                  static_cast<double>(place[2]) / kPlaceUnit};
  }
  return places;
}

// Converts from the unit square to a box on the page, and back.
Point to_page(const Box& box, Point p) {
  return {box.x + p.x * box.width, box.y + p.y * box.height};
}
Point to_square(const Box& box, Point p) {
  return {std::clamp((p.x - box.x) / box.width, 0.0, 1.0),
          std::clamp((p.y - box.y) / box.height, 0.0, 1.0)};
}

Index node_at(const std::vector<Node>& nodes, Point p, double reach) {
  Index nearest = -1;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const double distance = std::hypot(nodes[n].centre.x - p.x, nodes[n].centre.y - p.y);
    if (distance > reach) continue;
    reach = distance;
    nearest = static_cast<Index>(n);
  }
  return nearest;
}

// Edge from a query to its key. In the line layout it is an arc, above the line to earlier keys and
// below it to later keys. In other layouts it is straight, or slightly curved if `is_bent`.
Line edge_line(const DrawnGraph& d, Index from, Index to, bool is_bent, Colour colour,
               double thickness) {
  const Point a = d.nodes[static_cast<std::size_t>(from)].centre;
  const Point b = d.nodes[static_cast<std::size_t>(to)].centre;
  Line line{{}, colour, thickness};
  if (d.is_line) {
    const double radius = std::abs(a.x - b.x) / 2;
    const double space = from > to ? a.y - d.box.y : d.box.bottom() - a.y;
    const double flat = std::min(1.0, space / radius);
    const double middle = (a.x + b.x) / 2, up = from > to ? -1 : 1;
    for (int n = 0; n <= 32; ++n) {
      const double angle = std::numbers::pi * n / 32;
      line.points.push_back(
          {middle + (a.x - middle) * std::cos(angle), a.y + up * radius * flat * std::sin(angle)});
    }
    return line;
  }
  if (!is_bent) {
    line.points = {a, b};
    return line;
  }
  const double bend = 0.09;
  const Point control{(a.x + b.x) / 2 - bend * (b.y - a.y), (a.y + b.y) / 2 + bend * (b.x - a.x)};
  for (int n = 0; n <= 16; ++n) {
    const double t = n / 16.0, s = 1 - t;
    line.points.push_back({s * s * a.x + 2 * s * t * control.x + t * t * b.x,
                           s * s * a.y + 2 * s * t * control.y + t * t * b.y});
  }
  return line;
}

// Draws an arrow head at the end of a line, outside the node at that end.
void draw_arrow_head(Page& page, const Line& line, double radius) {
  const Point end = line.points.back();
  std::size_t n = line.points.size() - 1;
  Point start = line.points[n];
  while (n > 0 && std::hypot(start.x - end.x, start.y - end.y) < 2 * radius) {
    start = line.points[--n];
  }
  const double angle = std::atan2(start.y - end.y, end.x - start.x);
  const Point tip = on_circle(end, -radius, angle);
  const double size = std::max(0.5 * page.em(), 2 * line.thickness), spread = 0.42;
  const double back = angle + std::numbers::pi;
  page.add(Line{{on_circle(tip, size, back - spread), tip, on_circle(tip, size, back + spread)},
                line.colour,
                std::max(1.2, line.thickness * 0.7)});
}

bool in_focus(const DrawnGraph& d, Index from, Index to) {
  if (d.query < 0 && d.key < 0) return true;
  return (d.query < 0 || from == d.query) && (d.key < 0 || to == d.key);
}

// Colour of the selected head, lighter on dark pages.
Colour edge_colour(const Page& page) {
  const Colour colour = head_colour(page.input().session.view.head);
  return page.theme().is_dark() ? blend(colour, {255, 255, 255, 255}, 0.3) : colour;
}

// True for an edge that is drawn without an arrow head, and fainter the more edges there are, so
// that many negligible weights do not cover the others.
bool is_negligible(const DrawnGraph& d, double fraction) {
  constexpr double kNegligible = 0.05;  // of the largest weight
  return fraction<kNegligible&& static_cast<double>(d.edges.pairs.size())> kManyEdges;
}

void draw_edges(Page& page, const DrawnGraph& d) {
  const double em = page.em();
  const Colour full_colour = edge_colour(page);
  const double opacity = kManyEdges / static_cast<double>(d.edges.pairs.size());
  const auto draw = [&](bool is_focused) {
    for (const auto& [from, to] : d.edges.pairs) {
      if (in_focus(d, from, to) != is_focused) continue;
      const double fraction = std::abs(static_cast<double>(d.weights(from, to))) / d.largest;
      Colour colour = blend(page.theme().line, full_colour, 0.15 + 0.85 * std::sqrt(fraction));
      const bool is_faint = is_negligible(d, fraction);
      if (is_faint) colour = translucent(colour, std::max(kMinOpacity, opacity));
      if (!is_focused) colour = translucent(page.theme().line, is_faint ? 0.1 : 0.35);
      const bool has_reverse = std::ranges::binary_search(d.edges.pairs, Edge(to, from));
      const Line line = edge_line(d, from, to, has_reverse, colour,
                                  (kThinnest + (kThickest - kThinnest) * fraction) * em);
      page.add(line);
      if (is_focused && !is_faint && d.edges.pairs.size() <= 400)
        draw_arrow_head(page, line, kNode * em);
    }
  };
  draw(false);
  draw(true);
}

// Direction of a label: away from the edges at its node, otherwise from the centre.
Point label_direction(const DrawnGraph& d, Index node) {
  const Point centre = d.nodes[static_cast<std::size_t>(node)].centre;
  Point direction{0, 0};
  Index count = 0;
  const auto add = [&](Point from) {
    const double distance = std::max(1e-9, std::hypot(centre.x - from.x, centre.y - from.y));
    direction.x += (centre.x - from.x) / distance;
    direction.y += (centre.y - from.y) / distance;
    ++count;
  };
  for (const auto& [from, to] : d.edges.pairs) {
    if (from == node || to == node)
      add(d.nodes[static_cast<std::size_t>(from == node ? to : from)].centre);
  }
  add({d.box.x + d.box.width / 2, d.box.y + d.box.height / 2});
  const double distance = std::hypot(direction.x, direction.y);
  if (distance < 0.2 * static_cast<double>(count)) {  // edges on both sides
    return {std::abs(direction.y) > std::abs(direction.x) ? 1.0 : 0.0,
            std::abs(direction.y) > std::abs(direction.x) ? 0.0 : -1.0};
  }
  return {direction.x / distance, direction.y / distance};
}

struct NodeLabel {
  Text text;
  Box box;
};

NodeLabel label_of(const Page& page, const DrawnGraph& d, Index index) {
  const Node& node = d.nodes[static_cast<std::size_t>(index)];
  const double em = page.em(), radius = kNode * em;
  const bool is_marked = index == d.query || index == d.key;
  const double size = d.nodes.size() > 60 && !is_marked ? page.small() : em;
  const double cell = d.box.width / static_cast<double>(d.nodes.size());
  const std::string label =
      page.ellipsised(node.label, size, d.is_line ? 6 * em : 10 * em, is_marked);
  const double width = page.width_of(label, size, is_marked), half = 0.65 * size;
  if (d.is_line) {  // below the forward arcs, vertical if space is short
    const bool is_vertical = cell < 3.2 * em;
    const Point foot{node.centre.x, d.box.bottom() + 1.1 * em};
    const Text text{foot,
                    label,
                    page.theme().text,
                    size,
                    is_vertical ? Align::End : Align::Middle,
                    is_vertical ? 90.0 : 0.0,
                    is_marked};
    if (is_vertical) return {text, {foot.x - half, foot.y - 2, 2 * half, width + 4}};
    return {text, {foot.x - width / 2, foot.y - half, width, 2 * half}};
  }
  const Point direction = label_direction(d, index);
  const Align align = std::abs(direction.x) < 0.35 ? Align::Middle
                      : direction.x > 0            ? Align::Start
                                                   : Align::End;
  const Point place{node.centre.x + direction.x * (radius + 0.5 * em),
                    node.centre.y + direction.y * (radius + 0.9 * em)};
  const double left = place.x - (align == Align::Middle ? width / 2
                                 : align == Align::End  ? width
                                                        : 0);
  return {{place, label, page.theme().text, size, align, 0, is_marked},
          {left - 2, place.y - half, width + 4, 2 * half}};
}

// Draws the labels that fit, highlighted ones first.
void draw_labels(Page& page, const DrawnGraph& d) {
  std::vector<Box> occupied;
  const auto draw = [&](Index index) {
    const NodeLabel label = label_of(page, d, index);
    const Box& box = label.box;
    const bool is_outside = box.x < 0 || box.y < 0 || box.right() > page.input().canvas.width ||
                            box.bottom() > d.bottom;
    const bool is_covered = std::ranges::any_of(occupied, [&](const Box& other) {
      return box.x < other.right() && other.x < box.right() && box.y < other.bottom() &&
             other.y < box.bottom();
    });
    if (is_outside || is_covered) return;
    occupied.push_back(box);
    if (!d.is_line) {
      page.add(FilledBox{box, translucent(page.theme().background, 0.8), 0.2 * page.em()});
    }
    page.add(label.text);
  };
  for (const Index marked : {d.query, d.key}) {
    if (marked >= 0) draw(marked);
  }
  for (Index index = 0; index < static_cast<Index>(d.nodes.size()); ++index) {
    if (index != d.query && index != d.key) draw(index);
  }
}

void draw_nodes(Page& page, const DrawnGraph& d) {
  const double radius = kNode * page.em();
  for (std::size_t n = 0; n < d.nodes.size(); ++n) {
    const Node& node = d.nodes[n];
    const auto index = static_cast<Index>(n);
    const bool is_marked = index == d.query || index == d.key;
    const double self = std::abs(static_cast<double>(d.weights(index, index))) / d.largest;
    Colour fill =
        blend(page.theme().background, edge_colour(page), 0.12 + 0.88 * std::min(1.0, self));
    page.add(disc(node.centre, radius, fill));
    const Colour rim = index == d.query ? query_colour(page.theme())
                       : index == d.key ? key_colour(page.theme())
                                        : page.theme().text;
    page.add(circle(node.centre, radius, rim, is_marked ? 2.5 : 1.2));
  }
  draw_labels(page, d);
}

// Draws the legend of edge widths, and advice on interaction.
double draw_widths(Page& page, const DrawnGraph& d, const Box& box, const std::string& advice) {
  const double em = page.em(), y = box.y + 0.8 * em;
  double x = box.x;
  for (const double fraction : {0.25, 1.0}) {
    const std::string text = "weight " + brief(fraction * d.largest, 2);
    if (x + 3 * em + page.width_of(text, page.small()) > box.right()) break;
    page.add(Line{{{x, y}, {x + 2 * em, y}},
                  blend(page.theme().line, edge_colour(page), 0.15 + 0.85 * std::sqrt(fraction)),
                  (kThinnest + (kThickest - kThinnest) * fraction) * em});
    page.text({x + 2.5 * em, y}, text, page.small());
    x += 3.5 * em + page.width_of(text, page.small());
  }
  if (x > box.right() - 3 * em) return box.y + 1.6 * em;
  const std::string nodes = "filled nodes: weight on itself";
  page.faint_text({x, y},
                  page.fitting({advice.empty() ? nodes : nodes + ". " + advice, advice, ""},
                               page.small(), box.right() - x),
                  page.small());
  return box.y + 1.6 * em;
}

void move_node(Session& session, Index node, Point to) {
  Values values = view_values(session.view, kId);
  MovedNodes moved;
  if (values.has("moved")) moved = values.get<MovedNodes>("moved");
  const Index layout = layout_number(values);
  std::erase_if(moved, [&](const auto& place) {
    return place.size() < 3 || (place[0] == node && is_of_layout(place, layout));
  });
  const auto unit = [](double coordinate) {
    return static_cast<Index>(std::lround(coordinate * kPlaceUnit));
  };
  moved.push_back({node, unit(to.x), unit(to.y), layout});
  values.set("moved", moved);
  set_view_values(session.view, kId, values);
}

// Adds strokes from node to node that toggle an edge, or drags that move a node.
void add_strokes(const ViewInput& input, const DrawnGraph& d, const Box& area, double em,
                 ViewLayout& layout) {
  const Values settings = view_values(input.session.view, kId);
  const std::string tool = settings.choice("tool");
  const bool edits = tool == "edges" && is_graph(d.tap);
  const bool moves = !edits && tool != "look" && !d.is_line;
  if (!edits && !moves) return;
  const double reach = 1.6 * em;
  Handle handle{area, "", {}, {}};
  handle.stroke = [edits, reach, nodes = d.nodes, box = d.box, choice = edge_choice(d.tap, d.head)](
                      const std::vector<Point>& path, Session& session) {
    const Index from = node_at(nodes, path.front(), reach);
    if (from < 0) return;
    if (!edits) return move_node(session, from, to_square(box, path.back()));
    const Index to = node_at(nodes, path.back(), reach);
    if (to < 0 || to == from) return;
    std::optional<Choice>& head_variant = governing_variant(session);
    head_variant = graph_choice(toggle_edge(choice.edges, choice.is_directed, {from, to}),
                                choice.is_directed, head_variant);
  };
  layout.handles.push_back(std::move(handle));
}

std::string advice_of(const ViewInput& input, const DrawnGraph& d) {
  const std::string tool = view_values(input.session.view, kId).choice("tool");
  if (tool == "edges" && is_graph(d.tap)) {
    return "Drag from token to token to add or remove an edge.";
  }
  if (tool != "look" && !d.is_line) return "Drag a token to move it.";
  return "";
}

DrawnGraph graph_of(const ViewInput& input, const Page& page, const SelectedTap& found,
                    const Box& inside) {
  const AttentionTap& tap = *found.tap;
  const double em = page.em();
  const Values settings = view_values(input.session.view, kId);
  DrawnGraph d{tap, found.head, {}, {}, edges_of(tap, found.head), tap.attention(found.head)};
  d.is_line = settings.choice("layout") == "line";
  d.bottom = inside.bottom();
  const TokenAxis axis = query_axis(input.trace, tap);
  double widest = 2 * em;
  for (const std::string& label : axis.labels) widest = std::max(widest, page.width_of(label, em));
  widest = std::min(widest, 0.2 * inside.width);
  const double side = d.is_line ? 2 * em : widest + 1.5 * em;
  const double top = d.is_line ? 0 : 2.2 * em, bottom = d.is_line ? 7.5 * em : top;
  d.box = {inside.x + side, inside.y + top + 0.5 * em, std::max(0.0, inside.width - 2 * side),
           std::max(0.0, inside.height - top - bottom - em)};
  std::vector<Point> places = places_of(settings, d.edges.pairs, tap.queries());
  const bool has_forward =
      std::ranges::any_of(d.edges.pairs, [](const Edge& e) { return e.second > e.first; });
  for (std::size_t n = 0; n < places.size(); ++n) {
    if (d.is_line && !has_forward) places[n].y = 1;  // all arcs are above the line
    d.nodes.push_back({to_page(d.box, places[n]), axis.labels[n]});
  }
  d.largest = 0;
  for (const auto& [i, j] : d.edges.pairs) {
    d.largest = std::max(d.largest, std::abs(static_cast<double>(d.weights(i, j))));
  }
  if (!(d.largest > 0)) d.largest = 1;
  const ViewSettings& view = input.session.view;
  d.query = view.pinned_query < tap.queries() ? view.pinned_query : -1;
  d.key = view.pinned_key < tap.keys() ? view.pinned_key : -1;
  const Index hovered =
      input.interaction.pointer ? node_at(d.nodes, *input.interaction.pointer, 1.6 * em) : -1;
  if (hovered >= 0) (d.query >= 0 && d.query != hovered ? d.key : d.query) = hovered;
  return d;
}

ViewLayout lay_out_graph(const ViewInput& input) {
  Page page(input);
  const SelectedTap found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  if (tap.queries() != tap.keys() || tap.query_rows.stream != tap.key_rows.stream) {
    return page.message("No graph of these tokens",
                        "Queries and keys are different tokens: choose self-attention and a "
                        "variant whose keys are tokens.");
  }
  if (tap.queries() > kMaxNodes) {
    return page.message("Too many tokens for a graph",
                        "A graph shows at most " + std::to_string(kMaxNodes) +
                            " tokens, this head has " + grouped(tap.queries()) +
                            ". Shorten the text.");
  }
  const Box inside = page.frame(
      title_with_head(input),
      caption(input.trace, "Edges from queries to the keys that " +
                               describe_head(input.trace, input.session.view) +
                               " attends to; width: weight; " + describe(input.trace, tap) + "."));
  const double em = page.em(), key_height = 1.8 * em;
  Box plot = inside;
  plot.height -= key_height;
  const DrawnGraph d = graph_of(input, page, found, plot);
  if (d.box.width < 8 * em || d.box.height < 4 * em) return no_space(page);
  draw_edges(page, d);
  draw_nodes(page, d);
  const double bottom = draw_widths(page, d, {inside.x, plot.bottom(), inside.width, key_height},
                                    input.figure.framed ? "" : advice_of(input, d));
  ViewLayout layout;
  add_strokes(input, d, plot, em, layout);
  const ViewSettings& view = input.session.view;
  layout.hit = [nodes = d.nodes, reach = 1.6 * em, pinned = view.pinned_query, layer = view.layer,
                head = view.head](Point p) -> std::optional<Hit> {
    const Index node = node_at(nodes, p, reach);
    if (node < 0) return std::nullopt;
    const bool is_other = pinned >= 0 && pinned != node;
    return Hit{layer, head, is_other ? pinned : node, is_other ? node : -1};
  };
  layout.list = page.take(bottom);
  return layout;
}

ViewData graph_data(const ViewInput& input) {
  const SelectedTap found = require_tap(input);
  const AttentionTap& tap = *found.tap;
  if (tap.queries() > kMaxNodes) throw InputError("graph: too many tokens");
  const GraphEdges edges = edges_of(tap, found.head);
  const Tensor weights = tap.attention(found.head);
  Tensor table({static_cast<Index>(edges.pairs.size()), 3});
  for (Index n = 0; n < table.dim(0); ++n) {
    const auto [i, j] = edges.pairs[static_cast<std::size_t>(n)];
    table(n, 0) = static_cast<float>(i);
    table(n, 1) = static_cast<float>(j);
    table(n, 2) = weights(i, j);
  }
  return {{{"edges", table, {}, {"query", "key", "weight"}}}};
}

std::string tap_objection(const AttentionTap& tap) {
  if (tap.queries() != tap.keys() || tap.query_rows.stream != tap.key_rows.stream) {
    return "Queries and keys are different tokens.";
  }
  if (tap.queries() <= kMaxNodes) return "";
  return "A graph shows up to " + std::to_string(kMaxNodes) + " tokens.";
}

void set_chain_example(Session& session) {
  if (session.run.variant) return;
  session.run.variant = default_choice(variant(kGraph));
  session.run.variant->values.set("from", std::string("chain"));
  session.run.causal = false;
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  controls.hide_colours();
  std::erase_if(controls.parameters, [](const Parameter& p) { return p.key == "moved"; });
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  if (tap != nullptr && !is_graph(*tap)) {
    controls.idle["tool"] =
        "Requires the variant Graph. “Draw these edges” converts the current variant.";
  }
}

std::vector<Parameter> parameters() {
  using Kind = Parameter::Kind;
  return {{.key = "layout",
           .label = "Layout",
           .help = "Tokens on a circle, on a line, or placed by a spring simulation.",
           .kind = Kind::Choice,
           .initial = std::string("circle"),
           .choices = {{kLayouts[0], "Circle"}, {kLayouts[1], "Line"}, {kLayouts[2], "Springs"}}},
          {.key = "tool",
           .label = "Drag",
           .help = "Effect of dragging: add or remove an edge between tokens, or move a token.",
           .kind = Kind::Choice,
           .initial = std::string("move"),
           .choices = {{"move", "Moves"}, {"edges", "Draws edges"}, {"look", "Nothing"}}},
          {.key = "moved",
           .label = "Moved",
           .help = "Moved tokens: token, x, y in ten-thousandths of the picture, and the layout: 0 "
                   "circle, 1 line, 2 springs.",
           .kind = Kind::IntegerLists,
           .optional = true,
           .unset_label = "none",
           .initial = MovedNodes{},
           .limits = {.max = kPlaceUnit}}};
}

}  // namespace

View graph_view() {
  return {.id = kId,
          .label = "Graph",
          .group = "Method",
          .summary = "Tokens as nodes, attention weights as edges.",
          .lay_out = lay_out_graph,
          .reading = fixed_reading("Tokens are nodes; the width of an edge is its weight. Without "
                                   "an edge, no information passes in this layer.",
                                   {}),
          .data = graph_data,
          .options = {.parameters = parameters(), .restrict_controls = restrict_controls},
          .content = {.objection =
                          [](const Trace& trace) { return objection_to_all(trace, tap_objection); },
                      .example = set_chain_example}};
}

}  // namespace attnscope
