// RoPE view: pairs of components of a query and a key as arrows that rotate with the position.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/figure/plain_text.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/shapes.h"
#include "core/view/rope/rope_turn.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "rope";
constexpr double kTurn = 2 * std::numbers::pi;

constexpr double kRulerEnds = 3;      // em: numbers next to the line
constexpr double kRuler = 4.8;        // em
constexpr double kNote = 1.3;         // em: note on omitted pairs
constexpr double kChartShare = 0.4;   // share of the height for the curve, if there is ample space
constexpr double kMaxCircle = 16;     // em: diameter
constexpr double kGhost = 0.45;       // opacity of the query at the key's position
constexpr double kArc = 0.35;         // share of the radius
constexpr double kCircleLine = 1.35;  // em: line height below a circle
constexpr double kCircleGap = 1.4;    // em between circles

// Minimum sizes in em, tried in order: everything shrinks, then the curve moves next to the
// circles, then it is omitted.
struct MinSizes {
  double chart;   // height; 0: none
  double circle;  // diameter
  int lines;      // lines of text below a circle
  bool beside = false;
};
constexpr MinSizes kMin[] = {{9, 3.4, 2},   {6.3, 3.4, 2},       {6.3, 2.6, 1, true},
                             {5.4, 2.6, 1}, {4.2, 1.8, 1, true}, {0, 1.8, 1}};
constexpr double kBesideShare = 0.5;  // share of the width, for the curve
constexpr double kMinBeside = 12;     // em: width of the curve

// Arrangement of the circles: a sample of the pairs if space is short.
struct Raster {
  Index count = 0, columns = 0;
  double circle = 0;  // diameter
  double cell_width = 0, cell_height = 0;
  int lines = 0;  // of text below each
};

Raster raster_of(const Page& page, double width, double height, Index pairs,
                 const MinSizes& least) {
  const double em = page.em(), text = least.lines * kCircleLine * em;
  Raster best;
  for (Index shown = pairs; shown >= 1 && best.count == 0; --shown) {
    for (Index columns = 1; columns <= shown; ++columns) {
      const Index rows = (shown + columns - 1) / columns;
      const double circle = std::min({width / static_cast<double>(columns) - kCircleGap * em,
                                      height / static_cast<double>(rows) - text, kMaxCircle * em});
      if (circle < least.circle * em || circle <= best.circle) continue;
      best = {shown,         columns,    circle, width / static_cast<double>(columns),
              circle + text, least.lines};
    }
  }
  return best;
}

// The pair shown by circle `n` of `shown`: evenly spaced from the fastest to the slowest.
Index sampled_pair(Index n, Index shown, Index pairs) {
  if (shown == pairs || shown == 1) return n;
  return static_cast<Index>(
      std::lround(static_cast<double>(n * (pairs - 1)) / static_cast<double>(shown - 1)));
}

// "6.28", "182", "35,333".
std::string wavelength_text(double frequency) {
  constexpr double kFew = 1000, kMost = 1e9;
  const double length = kTurn / frequency;
  return length < kFew || length > kMost ? brief(length, 3) : grouped(std::lround(length));
}

// Colour of the score, distinct from query and key.
Colour score_colour(const Theme& theme) {
  return head_colour(theme.is_dark() ? 5 : 0);
}

struct Arrow {
  double length = 0, angle = 0;  // radians
};
Arrow arrow_of(const Tensor& v, const RotaryPair& pair) {
  const auto x = static_cast<double>(v[pair.first]), y = static_cast<double>(v[pair.second]);
  return {std::hypot(x, y), std::atan2(y, x)};
}

double longest_arrow(const Tensor& v, const std::vector<RotaryPair>& pairs) {
  double most = 0;
  for (const RotaryPair& pair : pairs) most = std::max(most, arrow_of(v, pair).length);
  return most > 0 ? most : 1;
}

// Rotation of a pair by the offset, wrapped to (-π, π].
double relative_angle(const RopeTurn& turn, const RotaryPair& pair) {
  return std::remainder(turn.offset() * pair.frequency, kTurn);
}

// Draws query and key as arrows, and the rotation by the offset as an arc to the query.
void draw_circle(Page& page, Point centre, double radius, const RotaryPair& pair,
                 const RopeTurn& turn, const Tensor& query, const Tensor& key) {
  const Theme& theme = page.theme();
  const double most_query = longest_arrow(query, turn.pairs),
               most_key = longest_arrow(key, turn.pairs);
  const Arrow q = arrow_of(query, pair), k = arrow_of(key, pair);
  page.add(disc(centre, radius, translucent(theme.line, 0.12)));
  page.add(circle(centre, radius, theme.line, 1));
  const double from = q.angle - relative_angle(turn, pair);
  if (q.length > 0) {
    const Point tip = on_circle(centre, radius * q.length / most_query, from);
    page.add(Line{{centre, tip}, translucent(query_colour(theme), kGhost), 1.2});
    page.add(arc(centre, kArc * radius, from, q.angle, theme.faint_text, 1.2));
  }
  const auto draw = [&](const Arrow& a, double most, Colour colour) {
    const Point tip = on_circle(centre, radius * a.length / most, a.angle);
    for (Line& item : arrow(centre, tip, colour, std::max(1.5, 0.045 * radius))) {
      page.add(std::move(item));
    }
  };
  draw(k, most_key, key_colour(theme));
  draw(q, most_query, query_colour(theme));
}

void draw_circles(Page& page, const Box& box, const Raster& raster, const RopeTurn& turn) {
  const double em = page.em(), size = page.small();
  const Tensor query = rotated(turn, turn.query, turn.query_at);
  const Tensor key = rotated(turn, turn.key, turn.key_at);
  const auto pairs = static_cast<Index>(turn.pairs.size());
  for (Index n = 0; n < raster.count; ++n) {
    const Index t = sampled_pair(n, raster.count, pairs);
    const RotaryPair& pair = turn.pairs[static_cast<std::size_t>(t)];
    const double left = box.x + static_cast<double>(n % raster.columns) * raster.cell_width;
    const double top = box.y + static_cast<double>(n / raster.columns) * raster.cell_height;
    const Point centre{left + raster.cell_width / 2, top + raster.circle / 2};
    draw_circle(page, centre, raster.circle / 2 - 1, pair, turn, query, key);
    const double most = raster.cell_width - 0.4 * em, below = top + raster.circle;
    page.text(
        {centre.x, below + 0.7 * em},
        page.fitting({"λ = " + wavelength_text(pair.frequency), wavelength_text(pair.frequency)},
                     size, most),
        size, Align::Middle);
    if (raster.lines < 2) continue;
    const std::string degrees = fixed(relative_angle(turn, pair) * 360 / kTurn, 0) + "°";
    page.faint_text(
        {centre.x, below + 1.8 * em},
        page.fitting({"pair " + std::to_string(t) + ", " + degrees, degrees}, size, most), size,
        Align::Middle);
  }
}

// Ruler of positions, along which query and key can be dragged.
struct Ruler {
  double left = 0, right = 0, y = 0;  // pixels
  double least = 0, most = 1;         // positions
  double at(double position) const {
    return left + (std::clamp(position, least, most) - least) / (most - least) * (right - left);
  }
  double position(double x) const {
    return std::clamp(std::round(least + (x - left) / (right - left) * (most - least)), least,
                      most);
  }
};

Ruler ruler_of(const Page& page, const Box& box, const RopeTurn& turn, Index reach) {
  const double ends = kRulerEnds * page.em();
  Ruler ruler{box.x + ends, box.right() - ends, box.y + 2.4 * page.em(), 0,
              static_cast<double>(reach)};
  ruler.least = std::floor(std::min({0.0, turn.query_at, turn.key_at}));
  ruler.most = std::ceil(std::max({ruler.most, turn.query_at, turn.key_at}));
  return ruler;
}

void draw_marker(Page& page, const Ruler& ruler, double position, const std::string& name,
                 Colour colour, bool above) {
  const double em = page.em(), x = ruler.at(position), side = above ? -1 : 1;
  page.add(Line{{{x, ruler.y}, {x, ruler.y + side * 0.9 * em}}, colour, 2});
  page.add(disc({x, ruler.y + side * 0.55 * em}, 0.42 * em, colour));
  const std::string text =
      page.ellipsised(name + " at " + decimal(position), page.small(), ruler.right - ruler.left);
  const double half = page.width_of(text, page.small()) / 2;
  const double middle = std::clamp(x, ruler.left - em + half,
                                   std::max(ruler.left - em + half, ruler.right + em - half));
  page.add(Text{{middle, ruler.y + side * 1.65 * em}, text, colour, page.small(), Align::Middle});
}

void draw_ruler(Page& page, const Ruler& ruler, const RopeTurn& turn) {
  const double em = page.em();
  const Theme& theme = page.theme();
  page.add(Line{{{ruler.left, ruler.y}, {ruler.right, ruler.y}}, theme.line, 2});
  const int count = std::max(2, static_cast<int>((ruler.right - ruler.left) / (4 * em)));
  std::vector<double> ticks;
  for (double step = 1; ticks.empty() || static_cast<int>(ticks.size()) > count; step *= 2) {
    ticks.clear();
    for (double p = std::ceil(ruler.least / step) * step; p <= ruler.most; p += step) {
      ticks.push_back(p);
      if (static_cast<int>(ticks.size()) > count) break;
    }
  }
  for (const double p : ticks) {
    page.add(Line{
        {{ruler.at(p), ruler.y - 0.25 * em}, {ruler.at(p), ruler.y + 0.25 * em}}, theme.line, 1});
  }
  const auto end_text = [&](double position) {
    return page.ellipsised(decimal(position), page.small(), kRulerEnds * em - em);
  };
  page.faint_text({ruler.left - 0.5 * em, ruler.y}, end_text(ruler.least), page.small(),
                  Align::End);
  page.faint_text({ruler.right + 0.5 * em, ruler.y}, end_text(ruler.most), page.small());
  const double from = ruler.at(std::min(turn.query_at, turn.key_at));
  const double to = ruler.at(std::max(turn.query_at, turn.key_at));
  page.add(Line{{{from, ruler.y}, {to, ruler.y}}, theme.text, 3});
  draw_marker(page, ruler, turn.query_at, "query", query_colour(theme), true);
  draw_marker(page, ruler, turn.key_at, "key", key_colour(theme), false);
  page.add(disc({(from + to) / 2, ruler.y}, 0.34 * em, theme.text));
}

void set_positions(Session& session, double query, double key) {
  set_view_value(session.view, kId, "query", query);
  set_view_value(session.view, kId, "key", key);
}

// Adds handles; later ones cover earlier ones: knobs of query and key the bar between them.
void add_handles(ViewLayout& layout, double em, const Ruler& ruler, const Chart& chart,
                 const RopeTurn& turn) {
  const double query = turn.query_at, key = turn.key_at, offset = turn.offset();
  if (!chart.empty()) {
    layout.handles.push_back({.area = chart.plot,
                              .help = "Drag to change the query's distance from the key.",
                              .drag = [chart, key](Point p, Session& e) {
                                const double value = std::round(chart.value_x(p.x));
                                set_positions(
                                    e, key + std::clamp(value, chart.x.least, chart.x.most), key);
                              }});
  }
  const double from = ruler.at(std::min(query, key)), to = ruler.at(std::max(query, key));
  const double middle = (from + to) / 2;
  layout.handles.push_back({.area = {middle - 0.7 * em, ruler.y - 0.7 * em, 1.4 * em, 1.4 * em},
                            .help = "Drag to shift query and key together: the score is unchanged.",
                            .drag = [ruler, offset](Point p, Session& e) {
                              const double least = ruler.least + std::max(0.0, -offset);
                              const double most =
                                  std::max(least, ruler.most - std::max(0.0, offset));
                              const double at = ruler.position(p.x) - std::round(offset / 2);
                              const double moved = std::clamp(at, least, most);
                              set_positions(e, moved + offset, moved);
                            }});
  const auto knob = [&](double position, double side) {
    return Box{ruler.at(position) - 0.9 * em, ruler.y + (side < 0 ? -2.2 : 0.15) * em, 1.8 * em,
               2.05 * em};
  };
  layout.handles.push_back(
      {.area = knob(query, -1),
       .help = "Drag the query to another position.",
       .drag = [ruler, key](Point p, Session& e) { set_positions(e, ruler.position(p.x), key); }});
  layout.handles.push_back({.area = knob(key, 1),
                            .help = "Drag the key to another position.",
                            .drag = [ruler, query](Point p, Session& e) {
                              set_positions(e, query, ruler.position(p.x));
                            }});
}

Chart draw_score(Page& page, const Box& box, const RopeTurn& turn, Index reach) {
  constexpr Index kFine = 128;  // up to this reach the curve has points between positions
  const std::vector<Point> curve = score_by_offset(turn, reach, reach <= kFine ? 4 : 1);
  double least = 0, most = 0;
  for (const Point& p : curve) {
    least = std::min(least, p.y);
    most = std::max(most, p.y);
  }
  ChartAxis y = padded_axis(least, most, true);
  y.titles = {"score q·k · scale", "score"};
  const auto far = static_cast<double>(reach);
  const Chart chart = place_chart(page, box,
                                  {.least = -far,
                                   .most = far,
                                   .titles = {"offset: query − key, in positions", "offset"},
                                   .whole = true},
                                  std::move(y));
  if (chart.empty()) return chart;
  draw_chart(page, chart);
  page.add(Line{
      {{chart.at_x(0), chart.plot.y}, {chart.at_x(0), chart.plot.bottom()}}, page.theme().line, 1});
  draw_curve(page, chart, curve, page.theme().text, 1.6);
  if (std::abs(turn.offset()) <= far) {
    const double score = rotated_score(turn, turn.offset());
    const double x = chart.at_x(turn.offset());
    page.add(Line{{{x, chart.plot.y}, {x, chart.plot.bottom()}}, score_colour(page.theme()), 1});
    page.add(disc({x, chart.at_y(score)}, 0.38 * page.em(), score_colour(page.theme())));
  }
  return chart;
}

std::vector<LegendEntry> legend_of(const Theme& theme, const RopeTurn& turn) {
  const auto named = [](const char* what, const std::string& name) {
    return name.empty() ? std::string(what) : what + std::string(" ") + name;
  };
  return {{query_colour(theme), named("query", turn.query_name)},
          {key_colour(theme), named("key", turn.key_name)},
          {score_colour(theme), "offset " + decimal(turn.offset()) + ": score " +
                                    brief(rotated_score(turn, turn.offset()))},
          {translucent(query_colour(theme), kGhost),
           "query at offset 0, an arc from it to the query: the rotation", false, true}};
}

std::string about(const RopeTurn& turn) {
  const auto pairs = static_cast<Index>(turn.pairs.size());
  const Index rest = turn.head_size - 2 * pairs;
  std::string text = turn.about + " RoPE with base " + brief(turn.rope.real("base"), 6) + ", " +
                     std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs") + " rotated";
  if (rest > 0) text += ", " + std::to_string(rest) + " components not rotated";
  text +=
      ". λ: positions per full rotation; arc and degrees: rotation of a pair by the offset, from "
      "where the query at the key's position. Arrows are scaled to their vector's longest.";
  return text;
}

// Division of the space between circles and curve.
struct Parts {
  Raster raster;
  double width = 0, height = 0;              // for the circles
  double chart_width = 0, chart_height = 0;  // 0: no curve
  bool beside = false;
};

Parts divide(const Page& page, double width, double height, Index pairs) {
  const double em = page.em();
  Parts parts;
  for (const MinSizes& least : kMin) {
    const bool ample = &least == std::begin(kMin);
    const double chart =
        ample ? std::max(least.chart * em, kChartShare * height) : least.chart * em;
    parts = {{}, width, height - chart, width, chart, least.beside};
    if (least.beside) {
      const double curve_width = kBesideShare * width;
      if (curve_width < kMinBeside * em || height + kNote * em < chart) continue;
      parts = {{}, width - curve_width, height, curve_width, height + kNote * em, true};
    }
    parts.raster = raster_of(page, parts.width, parts.height, pairs, least);
    if (parts.raster.count > 0) break;
  }
  return parts;
}

// Notes on the picture, longest first.
std::vector<std::string> picture_notes(const RopeTurn& turn, Index shown, bool has_curve) {
  const auto pairs = static_cast<Index>(turn.pairs.size());
  const std::string count = std::to_string(shown) + " of " + std::to_string(pairs);
  const bool shows_all = shown == pairs;
  if (turn.is_example) return {turn.about, "an example, not from the file", "an example"};
  if (!turn.run_encoding.empty()) {
    const std::string effect = "effect of RoPE: this run has " + turn.run_encoding;
    const std::string sample = shows_all ? "" : "; " + count + " pairs";
    return {"This run's encoding is " + turn.run_encoding +
                ": this picture shows the effect of RoPE on its vectors" + sample,
            effect + sample, effect, "effect of RoPE", "not the run's"};
  }
  if (has_curve && shows_all) return {};
  if (has_curve) return {count + " pairs, from the fastest to the slowest", count};
  const std::string missing = "no space for the score curve";
  if (shows_all) return {missing, "no curve"};
  return {count + " pairs; " + missing, missing, count};
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const Values values = view_values(input.session.view, kId);
  if (input.trace.attention.empty()) {
    const SelectedTap found = find_tap(input);
    return page.message(found.headline, found.advice);
  }
  const RopeTurn turn = rope_turn(input, values);
  const Index reach = values.integer("reach");
  const auto pairs = static_cast<Index>(turn.pairs.size());
  const double em = page.em();
  const Box inside = page.frame(title_with_head(input), caption(input.trace, about(turn)));
  std::vector<LegendEntry> entries = legend_of(input.canvas.theme, turn);
  std::vector<LegendEntry> few(entries.begin(), entries.end() - 1);  // if this saves a line
  if (legend_height(page, few, inside.width) < legend_height(page, entries, inside.width)) {
    entries = std::move(few);
  }
  const double header = legend_height(page, entries, inside.width) + 0.4 * em;
  Parts parts = divide(page, inside.width, inside.height - header - (kNote + kRuler) * em, pairs);
  const Raster& raster = parts.raster;
  if (raster.count == 0) return no_space(page);
  draw_legend(page, entries, {inside.x, inside.y, inside.width, header});
  const Index rows = (raster.count + raster.columns - 1) / raster.columns;
  const double circles = static_cast<double>(rows) * raster.cell_height;
  const bool tight = input.figure.tight && input.figure.framed && !parts.beside;
  if (!tight && !parts.beside && parts.chart_height > 0) {  // the curve gets the remaining space
    parts.chart_height += parts.height - circles;
    parts.height = circles;
  }
  const double under_header = inside.y + header;
  const double top = under_header + (tight ? 0 : std::max(0.0, parts.height - circles) / 2);
  draw_circles(page, {inside.x, top, parts.width, circles}, raster, turn);
  page.faint_text({inside.x + parts.width / 2, top + circles + kNote / 2 * em},
                  page.fitting(picture_notes(turn, raster.count, parts.chart_height > 0),
                               page.small(), parts.width),
                  page.small(), Align::Middle);
  const double ruler_top = tight ? top + circles : under_header + parts.height;
  const Box below{inside.x, ruler_top + kNote * em, inside.width, kRuler * em};
  const Ruler ruler = ruler_of(page, below, turn, reach);
  draw_ruler(page, ruler, turn);
  const Point chart_at =
      parts.beside ? Point{inside.x + parts.width, under_header} : Point{inside.x, below.bottom()};
  const Chart chart = draw_score(
      page, {chart_at.x, chart_at.y, parts.chart_width, parts.chart_height}, turn, reach);
  ViewLayout layout;
  add_handles(layout, em, ruler, chart, turn);
  const ViewSettings& settings = input.session.view;
  const Hit pair{settings.layer, settings.head, turn.pair_query, turn.pair_key};
  layout.hit = [inside, pair](Point p) {
    return inside.contains(p) && pair.query >= 0 ? std::optional<Hit>(pair) : std::nullopt;
  };
  layout.list = page.take(std::max(below.bottom(), chart_at.y + parts.chart_height));
  return layout;
}

ViewData data(const ViewInput& input) {
  const SelectedTap found = require_tap(input);
  const Values values = view_values(input.session.view, kId);
  const RopeTurn turn = rope_turn(input, values);
  const std::vector<Point> curve = score_by_offset(turn, values.integer("reach"), 1);
  ViewData::Matrix scores{
      "score by offset", Tensor({1, static_cast<Index>(curve.size())}), {"score"}, {}};
  for (std::size_t n = 0; n < curve.size(); ++n) {
    scores.values(0, static_cast<Index>(n)) = static_cast<float>(curve[n].y);
    scores.columns.push_back(fixed(curve[n].x, 0));
  }
  const std::vector<Tensor> vectors{turn.query, turn.key, rotated(turn, turn.query, turn.query_at),
                                    rotated(turn, turn.key, turn.key_at)};
  ViewData::Matrix rotations{"vectors",
                             Tensor({4, turn.head_size}),
                             {"query", "key", "query, rotated", "key, rotated"},
                             {}};
  for (std::size_t n = 0; n < vectors.size(); ++n) {
    std::copy(vectors[n].begin(), vectors[n].end(),
              rotations.values.data() + static_cast<Index>(n) * turn.head_size);
  }
  return {{std::move(scores), std::move(rotations)}};
}

std::vector<Parameter> parameters() {
  const Parameter position{.kind = Parameter::Kind::Real,
                           .optional = true,
                           .unset_label = "its token's",
                           .initial = 8.0,
                           .limits = {.min = -Parameter::kMaxInteger},
                           .slider = {.min = 0, .max = 64}};
  Parameter query = position, key = position;
  query.key = "query";
  query.label = "Query at";
  query.help = "The query's position; by default that of its token.";
  key.key = "key";
  key.label = "Key at";
  key.initial = 0.0;
  key.help = "The key's position; by default that of its token.";
  return {query,
          key,
          {.key = "base",
           .symbol = "base",
           .label = "Base",
           .help = "Larger values slow down the slow pairs; by default the model's, or 10,000 "
                   "without RoPE.",
           .kind = Parameter::Kind::Real,
           .optional = true,
           .unset_label = "default",
           .initial = 10000.0,
           .limits = {.min = 0, .max = Parameter::kMaxReal, .min_excluded = true},
           .slider = {.min = 10, .max = 1000000, .logarithmic = true}},
          {.key = "pairs",
           .label = "Pairs",
           .help = "Number of rotated pairs of components; the rest are unchanged. By default as "
                   "in the model, or all without RoPE.",
           .optional = true,
           .unset_label = "default",
           .initial = Index{8},
           .limits = {.min = 1},
           .slider = {.min = 1, .max = 64}},
          {.key = "vectors",
           .label = "Vectors",
           .help = "Query and key of the shown head; or its query for both; or arrows of length 1 "
                   "in the same direction.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("head"),
           .choices = {"head", "equal", "unit"}},
          {.key = "reach",
           .label = "Reach",
           .help = "Largest position and offset to draw.",
           .initial = Index{64},
           .limits = {.min = 4, .max = 4096},
           .slider = {.min = 8, .max = 512}}};
}

}  // namespace

View rope_view() {
  return {.id = kId,
          .label = "RoPE",
          .group = "Method",
          .summary = "Rotation of query and key by RoPE, and the effect on their score.",
          .lay_out = lay_out,
          .reading = fixed_reading(
              "RoPE rotates pairs of numbers like clock hands, by an angle proportional to the "
              "position. The score depends only on the angle between query and key, and so on "
              "their distance.",
              {{"λ", "positions per full rotation of a hand."},
               {"Base", "determines how much slower each hand is than the previous one."}}),
          .data = data,
          .options = {.parameters = parameters(),
                      .animation = Animation{"query", 0, 64, 12},
                      .restrict_controls = without_colours},
          .content = {.objection =
                          [](const Trace& trace) {
                            return objection_to_all(trace, [](const AttentionTap& tap) {
                              return tap.encoding.id == "rope" ? ""
                                                               : "No head of this run uses RoPE.";
                            });
                          }},
          .cells = {.alter_run = [](const ViewSettings& settings, const AttentionTap& tap) {
            if (!encoding(tap.encoding.id).planes) return true;
            const Values values = view_values(settings, kId);
            Values as_run = default_values(attnscope::view(kId).options.parameters);
            as_run.set("reach", values.integer("reach"));
            return values != as_run;
          }}};
}

}  // namespace attnscope
