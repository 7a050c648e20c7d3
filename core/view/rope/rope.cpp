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
constexpr double kFullTurn = 2 * std::numbers::pi;

constexpr double kRulerEnds = 3;      // em: space for the numbers at the ends of the ruler
constexpr double kRuler = 4.8;        // em: height
constexpr double kNote = 1.3;         // em: note on omitted pairs
constexpr double kChartHeight = 0.4;  // fraction of the height for the curve, if space is ample
constexpr double kMaxCircle = 16;     // em: diameter
constexpr double kGhost = 0.45;       // opacity of the query at the key's position
constexpr double kArc = 0.35;         // radius of the arc as a fraction of the circle's radius
constexpr double kCircleLine = 1.35;  // em: line height below a circle
constexpr double kCircleGap = 1.4;    // em between circles

// Minimum sizes in em; divide() uses the first alternative that fits. Later ones are smaller or
// have the curve next to the circles; the last one has no curve.
struct MinSizes {
  double chart;   // height of the curve; 0: no curve
  double circle;  // diameter
  int lines;      // lines of text below a circle
  bool is_chart_beside = false;
};
constexpr MinSizes kMin[] = {{9, 3.4, 2},   {6.3, 3.4, 2},       {6.3, 2.6, 1, true},
                             {5.4, 2.6, 1}, {4.2, 1.8, 1, true}, {0, 1.8, 1}};
constexpr double kChartWidth = 0.5;    // fraction of the width for a curve next to the circles
constexpr double kMinChartWidth = 12;  // em

// Arrangement of the circles, which show a sample of the pairs if space is short.
struct Raster {
  Index count = 0, columns = 0;  // number of circles; circles per row
  double circle = 0;             // diameter
  double cell_width = 0, cell_height = 0;
  int lines = 0;  // lines of text below a circle
};

Raster place_circles(const Page& page, double width, double height, Index pairs,
                     const MinSizes& sizes) {
  const double em = page.em(), foot = sizes.lines * kCircleLine * em;
  Raster best;
  for (Index count = pairs; count >= 1 && best.count == 0; --count) {
    for (Index columns = 1; columns <= count; ++columns) {
      const Index rows = (count + columns - 1) / columns;
      const double circle = std::min({width / static_cast<double>(columns) - kCircleGap * em,
                                      height / static_cast<double>(rows) - foot, kMaxCircle * em});
      if (circle < sizes.circle * em || circle <= best.circle) continue;
      best = {count,         columns,    circle, width / static_cast<double>(columns),
              circle + foot, sizes.lines};
    }
  }
  return best;
}

// Index of the pair in circle `n` of `count`. Pairs are evenly sampled from fastest to slowest.
Index sampled_pair(Index n, Index count, Index pairs) {
  if (count == pairs || count == 1) return n;
  return static_cast<Index>(
      std::lround(static_cast<double>(n * (pairs - 1)) / static_cast<double>(count - 1)));
}

// Positions per full rotation: "6.28", "182", "35,333".
std::string wavelength_text(double frequency) {
  constexpr double kMin = 1000, kMax = 1e9;
  const double length = kFullTurn / frequency;
  return length < kMin || length > kMax ? brief(length, 3) : grouped(std::lround(length));
}

// Colour of the score, distinct from the colours of query and key.
Colour score_colour(const Theme& theme) {
  return head_colour(theme.is_dark() ? 5 : 0);
}

struct Arrow {
  double length = 0, angle = 0;  // angle in radians
};
Arrow pair_arrow(const Tensor& v, const RotaryPair& pair) {
  const auto x = static_cast<double>(v[pair.first]), y = static_cast<double>(v[pair.second]);
  return {std::hypot(x, y), std::atan2(y, x)};
}

double longest_arrow(const Tensor& v, const std::vector<RotaryPair>& pairs) {
  double longest = 0;
  for (const RotaryPair& pair : pairs) longest = std::max(longest, pair_arrow(v, pair).length);
  return longest > 0 ? longest : 1;
}

// Rotation of a pair by the offset, wrapped to (-π, π].
double relative_angle(const RopeTurn& turn, const RotaryPair& pair) {
  return std::remainder(turn.offset() * pair.frequency, kFullTurn);
}

// Draws query and key as arrows, and the rotation of the query by the offset as an arc.
void draw_circle(Page& page, Point centre, double radius, const RotaryPair& pair,
                 const RopeTurn& turn, const Tensor& query, const Tensor& key) {
  const Theme& theme = page.theme();
  const double longest_query = longest_arrow(query, turn.pairs),
               longest_key = longest_arrow(key, turn.pairs);
  const Arrow q = pair_arrow(query, pair), k = pair_arrow(key, pair);
  page.add(disc(centre, radius, translucent(theme.line, 0.12)));
  page.add(circle(centre, radius, theme.line, 1));
  const double start_angle = q.angle - relative_angle(turn, pair);
  if (q.length > 0) {
    const Point tip = on_circle(centre, radius * q.length / longest_query, start_angle);
    page.add(Line{{centre, tip}, translucent(query_colour(theme), kGhost), 1.2});
    page.add(arc(centre, kArc * radius, start_angle, q.angle, theme.faint_text, 1.2));
  }
  const auto draw_arrow = [&](const Arrow& a, double longest, Colour colour) {
    const Point tip = on_circle(centre, radius * a.length / longest, a.angle);
    for (Line& item : arrow(centre, tip, colour, std::max(1.5, 0.045 * radius))) {
      page.add(std::move(item));
    }
  };
  draw_arrow(k, longest_key, key_colour(theme));
  draw_arrow(q, longest_query, query_colour(theme));
}

void draw_circles(Page& page, const Box& box, const Raster& raster, const RopeTurn& turn) {
  const double em = page.em(), font_size = page.small();
  const Tensor query = rotated(turn, turn.query, turn.query_position);
  const Tensor key = rotated(turn, turn.key, turn.key_position);
  const auto pairs = static_cast<Index>(turn.pairs.size());
  for (Index n = 0; n < raster.count; ++n) {
    const Index t = sampled_pair(n, raster.count, pairs);
    const RotaryPair& pair = turn.pairs[static_cast<std::size_t>(t)];
    const double left = box.x + static_cast<double>(n % raster.columns) * raster.cell_width;
    const double top = box.y + static_cast<double>(n / raster.columns) * raster.cell_height;
    const Point centre{left + raster.cell_width / 2, top + raster.circle / 2};
    draw_circle(page, centre, raster.circle / 2 - 1, pair, turn, query, key);
    const double max_width = raster.cell_width - 0.4 * em, text_top = top + raster.circle;
    page.text(
        {centre.x, text_top + 0.7 * em},
        page.fitting({"λ = " + wavelength_text(pair.frequency), wavelength_text(pair.frequency)},
                     font_size, max_width),
        font_size, Align::Middle);
    if (raster.lines < 2) continue;
    const std::string degrees = fixed(relative_angle(turn, pair) * 360 / kFullTurn, 0) + "°";
    page.faint_text(
        {centre.x, text_top + 1.8 * em},
        page.fitting({"pair " + std::to_string(t) + ", " + degrees, degrees}, font_size, max_width),
        font_size, Align::Middle);
  }
}

// Ruler of positions, along which the user drags query and key.
struct Ruler {
  double left = 0, right = 0, y = 0;  // pixels
  double first = 0, last = 1;
  double x_at(double position) const {
    return left + (std::clamp(position, first, last) - first) / (last - first) * (right - left);
  }
  double position_at(double x) const {
    return std::clamp(std::round(first + (x - left) / (right - left) * (last - first)), first,
                      last);
  }
};

Ruler place_ruler(const Page& page, const Box& box, const RopeTurn& turn, Index reach) {
  const double ends = kRulerEnds * page.em();
  Ruler ruler{box.x + ends, box.right() - ends, box.y + 2.4 * page.em(), 0,
              static_cast<double>(reach)};
  ruler.first = std::floor(std::min({0.0, turn.query_position, turn.key_position}));
  ruler.last = std::ceil(std::max({ruler.last, turn.query_position, turn.key_position}));
  return ruler;
}

void draw_marker(Page& page, const Ruler& ruler, double position, const std::string& name,
                 Colour colour, bool is_above) {
  const double em = page.em(), x = ruler.x_at(position), sign = is_above ? -1 : 1;
  page.add(Line{{{x, ruler.y}, {x, ruler.y + sign * 0.9 * em}}, colour, 2});
  page.add(disc({x, ruler.y + sign * 0.55 * em}, 0.42 * em, colour));
  const std::string text =
      page.ellipsised(name + " at " + decimal(position), page.small(), ruler.right - ruler.left);
  const double half = page.width_of(text, page.small()) / 2;
  const double middle = std::clamp(x, ruler.left - em + half,
                                   std::max(ruler.left - em + half, ruler.right + em - half));
  page.add(Text{{middle, ruler.y + sign * 1.65 * em}, text, colour, page.small(), Align::Middle});
}

void draw_ruler(Page& page, const Ruler& ruler, const RopeTurn& turn) {
  const double em = page.em();
  const Theme& theme = page.theme();
  page.add(Line{{{ruler.left, ruler.y}, {ruler.right, ruler.y}}, theme.line, 2});
  const int max_count = std::max(2, static_cast<int>((ruler.right - ruler.left) / (4 * em)));
  std::vector<double> ticks;
  for (double step = 1; ticks.empty() || static_cast<int>(ticks.size()) > max_count; step *= 2) {
    ticks.clear();
    for (double p = std::ceil(ruler.first / step) * step; p <= ruler.last; p += step) {
      ticks.push_back(p);
      if (static_cast<int>(ticks.size()) > max_count) break;
    }
  }
  for (const double p : ticks) {
    page.add(Line{{{ruler.x_at(p), ruler.y - 0.25 * em}, {ruler.x_at(p), ruler.y + 0.25 * em}},
                  theme.line,
                  1});
  }
  const auto end_text = [&](double position) {
    return page.ellipsised(decimal(position), page.small(), kRulerEnds * em - em);
  };
  page.faint_text({ruler.left - 0.5 * em, ruler.y}, end_text(ruler.first), page.small(),
                  Align::End);
  page.faint_text({ruler.right + 0.5 * em, ruler.y}, end_text(ruler.last), page.small());
  const double left = ruler.x_at(std::min(turn.query_position, turn.key_position));
  const double right = ruler.x_at(std::max(turn.query_position, turn.key_position));
  page.add(Line{{{left, ruler.y}, {right, ruler.y}}, theme.text, 3});
  draw_marker(page, ruler, turn.query_position, "query", query_colour(theme), true);
  draw_marker(page, ruler, turn.key_position, "key", key_colour(theme), false);
  page.add(disc({(left + right) / 2, ruler.y}, 0.34 * em, theme.text));
}

void set_positions(Session& session, double query, double key) {
  set_view_value(session.view, kId, "query", query);
  set_view_value(session.view, kId, "key", key);
}

// Adds handles. The knobs of query and key come last, so that they cover the knob between them.
void add_handles(ViewLayout& layout, double em, const Ruler& ruler, const Chart& chart,
                 const RopeTurn& turn) {
  const double query = turn.query_position, key = turn.key_position, offset = turn.offset();
  if (!chart.empty()) {
    layout.handles.push_back(
        {.area = chart.plot,
         .help = "Drag to change the query's distance from the key.",
         .drag = [chart, key](Point p, Session& session) {
           const double value = std::round(chart.value_x(p.x));
           set_positions(session, key + std::clamp(value, chart.x.least, chart.x.most), key);
         }});
  }
  const double left = ruler.x_at(std::min(query, key)), right = ruler.x_at(std::max(query, key));
  const double middle = (left + right) / 2;
  layout.handles.push_back({.area = {middle - 0.7 * em, ruler.y - 0.7 * em, 1.4 * em, 1.4 * em},
                            .help = "Drag to shift query and key together: the score is unchanged.",
                            .drag = [ruler, offset](Point p, Session& session) {
                              const double low = ruler.first + std::max(0.0, -offset);
                              const double high = std::max(low, ruler.last - std::max(0.0, offset));
                              const double dragged =
                                  ruler.position_at(p.x) - std::round(offset / 2);
                              const double moved = std::clamp(dragged, low, high);
                              set_positions(session, moved + offset, moved);
                            }});
  const auto knob = [&](double position, double side) {
    return Box{ruler.x_at(position) - 0.9 * em, ruler.y + (side < 0 ? -2.2 : 0.15) * em, 1.8 * em,
               2.05 * em};
  };
  layout.handles.push_back({.area = knob(query, -1),
                            .help = "Drag the query to another position.",
                            .drag = [ruler, key](Point p, Session& session) {
                              set_positions(session, ruler.position_at(p.x), key);
                            }});
  layout.handles.push_back({.area = knob(key, 1),
                            .help = "Drag the key to another position.",
                            .drag = [ruler, query](Point p, Session& session) {
                              set_positions(session, query, ruler.position_at(p.x));
                            }});
}

Chart draw_score(Page& page, const Box& box, const RopeTurn& turn, Index reach) {
  constexpr Index kMaxFineReach = 128;  // largest reach with curve points between positions
  const std::vector<Point> curve = score_by_offset(turn, reach, reach <= kMaxFineReach ? 4 : 1);
  double min_score = 0, max_score = 0;
  for (const Point& p : curve) {
    min_score = std::min(min_score, p.y);
    max_score = std::max(max_score, p.y);
  }
  ChartAxis y = padded_axis(min_score, max_score, true);
  y.titles = {"score q·k · scale", "score"};
  const auto max_offset = static_cast<double>(reach);
  const Chart chart = place_chart(page, box,
                                  {.least = -max_offset,
                                   .most = max_offset,
                                   .titles = {"offset: query − key, in positions", "offset"},
                                   .whole = true},
                                  std::move(y));
  if (chart.empty()) return chart;
  draw_chart(page, chart);
  page.add(Line{
      {{chart.at_x(0), chart.plot.y}, {chart.at_x(0), chart.plot.bottom()}}, page.theme().line, 1});
  draw_curve(page, chart, curve, page.theme().text, 1.6);
  if (std::abs(turn.offset()) <= max_offset) {
    const double score = rotated_score(turn, turn.offset());
    const double x = chart.at_x(turn.offset());
    page.add(Line{{{x, chart.plot.y}, {x, chart.plot.bottom()}}, score_colour(page.theme()), 1});
    page.add(disc({x, chart.at_y(score)}, 0.38 * page.em(), score_colour(page.theme())));
  }
  return chart;
}

std::vector<LegendEntry> legend_entries(const Theme& theme, const RopeTurn& turn) {
  const auto label = [](const char* role, const std::string& name) {
    return name.empty() ? std::string(role) : role + std::string(" “") + name + "”";
  };
  return {{query_colour(theme), label("query", turn.query_name)},
          {key_colour(theme), label("key", turn.key_name)},
          {score_colour(theme), "offset " + decimal(turn.offset()) + ": score " +
                                    brief(rotated_score(turn, turn.offset()))},
          {translucent(query_colour(theme), kGhost),
           "query at offset 0; arc: rotation by the offset", false, true}};
}

std::string describe_picture(const RopeTurn& turn) {
  const auto pairs = static_cast<Index>(turn.pairs.size());
  const Index unrotated = turn.head_size - 2 * pairs;
  std::string text = turn.origin + " RoPE with base " + brief(turn.rope.real("base"), 6) + ", " +
                     std::to_string(pairs) + (pairs == 1 ? " pair" : " pairs") + " rotated";
  if (unrotated > 0) text += ", " + std::to_string(unrotated) + " components not rotated";
  text +=
      ". λ: positions per full rotation; arc and degrees: rotation of a pair by the offset, from "
      "the query at the key's position. Arrows are scaled to their vector's longest.";
  return text;
}

// Division of the space between circles and curve.
struct Parts {
  Raster raster;
  double width = 0, height = 0;              // size of the space for circles
  double chart_width = 0, chart_height = 0;  // height 0: no curve
  bool is_chart_beside = false;              // to the right of the circles
};

Parts divide(const Page& page, double width, double height, Index pairs) {
  const double em = page.em();
  Parts parts;
  for (const MinSizes& sizes : kMin) {
    const bool is_ample = &sizes == std::begin(kMin);
    const double chart_height =
        is_ample ? std::max(sizes.chart * em, kChartHeight * height) : sizes.chart * em;
    parts = {{}, width, height - chart_height, width, chart_height, sizes.is_chart_beside};
    if (sizes.is_chart_beside) {
      const double curve_width = kChartWidth * width;
      if (curve_width < kMinChartWidth * em || height + kNote * em < chart_height) continue;
      parts = {{}, width - curve_width, height, curve_width, height + kNote * em, true};
    }
    parts.raster = place_circles(page, parts.width, parts.height, pairs, sizes);
    if (parts.raster.count > 0) break;
  }
  return parts;
}

// Candidates for the note on the picture, longest first; empty if there is nothing to note.
std::vector<std::string> picture_notes(const RopeTurn& turn, Index drawn_count, bool has_curve) {
  const auto pairs = static_cast<Index>(turn.pairs.size());
  const std::string count = std::to_string(drawn_count) + " of " + std::to_string(pairs);
  const bool shows_all = drawn_count == pairs;
  if (turn.is_example) return {turn.origin, "an example, not from the file", "an example"};
  if (!turn.run_encoding.empty()) {
    const std::string effect = "effect of RoPE: this run has " + turn.run_encoding;
    const std::string sample = shows_all ? "" : "; " + count + " pairs";
    return {"This run's encoding is " + turn.run_encoding +
                ": this picture shows the effect of RoPE on its vectors" + sample,
            effect + sample, effect, "effect of RoPE", "not the run's"};
  }
  if (has_curve && shows_all) return {};
  if (has_curve) return {count + " pairs, from the fastest to the slowest", count};
  const std::string missing_curve = "no space for the score curve";
  if (shows_all) return {missing_curve, "no curve"};
  return {count + " pairs; " + missing_curve, missing_curve, count};
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const Values values = view_values(input.session.view, kId);
  if (input.trace.attention.empty()) {
    const SelectedTap selected = find_tap(input);
    return page.message(selected.headline, selected.advice);
  }
  const RopeTurn turn = rope_turn(input, values);
  const Index reach = values.integer("reach");
  const auto pairs = static_cast<Index>(turn.pairs.size());
  const double em = page.em();
  const Box inside =
      page.frame(title_with_head(input), caption(input.trace, describe_picture(turn)));
  std::vector<LegendEntry> entries = legend_entries(input.canvas.theme, turn);
  std::vector<LegendEntry> fewer(entries.begin(), entries.end() - 1);  // used if this saves a line
  if (legend_height(page, fewer, inside.width) < legend_height(page, entries, inside.width)) {
    entries = std::move(fewer);
  }
  const double header = legend_height(page, entries, inside.width) + 0.4 * em;
  Parts parts = divide(page, inside.width, inside.height - header - (kNote + kRuler) * em, pairs);
  const Raster& raster = parts.raster;
  if (raster.count == 0) return no_space(page);
  draw_legend(page, entries, {inside.x, inside.y, inside.width, header});
  const Index rows = (raster.count + raster.columns - 1) / raster.columns;
  const double circles = static_cast<double>(rows) * raster.cell_height;
  const bool is_tight = input.figure.tight && input.figure.framed && !parts.is_chart_beside;
  if (!is_tight && !parts.is_chart_beside &&
      parts.chart_height > 0) {  // the curve gets the remaining space
    parts.chart_height += parts.height - circles;
    parts.height = circles;
  }
  const double content_top = inside.y + header;
  const double top = content_top + (is_tight ? 0 : std::max(0.0, parts.height - circles) / 2);
  draw_circles(page, {inside.x, top, parts.width, circles}, raster, turn);
  page.faint_text({inside.x + parts.width / 2, top + circles + kNote / 2 * em},
                  page.fitting(picture_notes(turn, raster.count, parts.chart_height > 0),
                               page.small(), parts.width),
                  page.small(), Align::Middle);
  const double ruler_top = is_tight ? top + circles : content_top + parts.height;
  const Box ruler_box{inside.x, ruler_top + kNote * em, inside.width, kRuler * em};
  const Ruler ruler = place_ruler(page, ruler_box, turn, reach);
  draw_ruler(page, ruler, turn);
  const Point chart_corner = parts.is_chart_beside ? Point{inside.x + parts.width, content_top}
                                                   : Point{inside.x, ruler_box.bottom()};
  const Chart chart = draw_score(
      page, {chart_corner.x, chart_corner.y, parts.chart_width, parts.chart_height}, turn, reach);
  ViewLayout layout;
  add_handles(layout, em, ruler, chart, turn);
  const ViewSettings& settings = input.session.view;
  const Hit pair{settings.layer, settings.head, turn.pair_query, turn.pair_key};
  layout.hit = [inside, pair](Point p) {
    return inside.contains(p) && pair.query >= 0 ? std::optional<Hit>(pair) : std::nullopt;
  };
  layout.list = page.take(std::max(ruler_box.bottom(), chart_corner.y + parts.chart_height));
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
  const std::vector<Tensor> vectors{turn.query, turn.key,
                                    rotated(turn, turn.query, turn.query_position),
                                    rotated(turn, turn.key, turn.key_position)};
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
