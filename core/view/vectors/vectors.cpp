// Vectors view: query and key of one pair, component by component, and their product.
#include <algorithm>
#include <cmath>

#include "core/analysis/pair.h"
#include "core/figure/plain_text.h"
#include "core/view/map/map_raster.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/refusal.h"
#include "core/view/parts/shapes.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

// Side of the miniature map that selects a pair, and minimum page width for the map, in em.
struct MapSide {
  double side, min_width;
};
constexpr MapSide kMapSides[] = {{22, 70}, {15, 38}, {9, 28}};
constexpr double kMinStage = 2.3;      // em: height of a chart
constexpr double kMaxStage = 12;       // em
constexpr double kLastStage = 2.75;    // em: labels below the last chart
constexpr double kMinWidth = 10;       // em
constexpr std::size_t kMinStages = 3;  // q, k and their product; the text states the sum
constexpr double kMapTitle = 1.3;      // em: title of the miniature map
constexpr double kLine = 1.5;          // em: text line with the sum

struct PairVectors {
  std::vector<double> query, key, product, sum;  // [d_k]; sum: running sum of `product`
};

const float* row_of(const Tensor& x, Index head, Index heads, Index row) {
  const Index plane = head / (heads / x.dim(0));
  return x.data() + (plane * x.dim(1) + row) * x.dim(2);
}

PairVectors pair_vectors(const Part& part, const Tensor& q, const Tensor& k, Index head,
                         Pair pair) {
  PairVectors v;
  const float* a = row_of(q, head, part.heads, pair.query);
  const float* b = row_of(k, head, part.heads, pair.key);
  const Part::Span numbers = part.numbers_of(Var(q), pair.query);
  double sum = 0;
  for (Index n = numbers.first; n < numbers.first + numbers.count; ++n) {
    v.query.push_back(static_cast<double>(a[n]));
    v.key.push_back(static_cast<double>(b[n]));
    v.product.push_back(v.query.back() * v.key.back());
    v.sum.push_back(sum += v.product.back());
  }
  return v;
}

Refusal refusal_of_vectors(const Trace& trace, const AttentionTap& tap) {
  if (trace.is_imported) {
    return {"No queries and keys in this file", kImportedAttentionAdvice};
  }
  const HeadTensors<Shape>& shapes = tap.shapes().part;
  if (tap.settings() != nullptr && tap.settings()->source == Source::Product && !shapes.q.empty() &&
      !shapes.k.empty()) {
    return {};
  }
  return {"No query-key product",
          variant(tap.variant.id).label +
              ": its weights are not products of one query and one key, or the run recorded "
              "neither. Choose full attention or a fixed pattern."};
}

// True if the encoding changes q and k instead of scores. Requires a tap with vectors.
bool changes_vectors(const AttentionTap& tap) {
  const RecordedVectors::Shapes& shapes = tap.shapes();
  if (shapes.input.q.empty() || shapes.input.k.empty() || shapes.input.q != shapes.part.q ||
      shapes.input.k != shapes.part.k) {
    return false;
  }
  const std::shared_ptr<const AttentionVectors> vectors = tap.vectors.get();
  return vectors->input.q.data() != vectors->part->q.value().data();
}

struct Stage {
  std::vector<std::string> titles;
  const std::vector<double>& values;
  const std::vector<double>* unencoded;  // values before the encoding; null if it has no effect
  Colour colour;
  bool is_curve = false;  // false: bars
};

// `marked`: component whose value is labelled; -1: none.
void draw_stage(Page& page, const Chart& chart, const Stage& stage, Index marked) {
  draw_chart(page, chart);
  if (stage.is_curve) {
    std::vector<Point> steps;
    for (std::size_t n = 0; n < stage.values.size(); ++n) {
      const auto x = static_cast<double>(n);
      steps.push_back({x - 0.5, stage.values[n]});
      steps.push_back({x + 0.5, stage.values[n]});
    }
    draw_curve(page, chart, steps, stage.colour, 2);
    page.add(
        disc({chart.plot.right(), chart.at_y(stage.values.back())}, 0.3 * page.em(), stage.colour));
  }
  for (std::size_t n = 0; n < stage.values.size() && !stage.is_curve; ++n) {
    const auto x = static_cast<double>(n);
    draw_bar(page, chart, x, 0.72, stage.values[n], stage.colour);
    if (!stage.unencoded) continue;
    const double y = chart.at_y((*stage.unencoded)[n]);
    page.add(Line{{{chart.at_x(x - 0.45), y}, {chart.at_x(x + 0.45), y}}, page.theme().text, 1.5});
  }
  if (marked < 0) return;
  const auto n = static_cast<std::size_t>(marked);
  const std::string note = stage.unencoded ? " (before: " + brief((*stage.unencoded)[n]) + ")" : "";
  draw_value(page, chart, {static_cast<double>(marked), stage.values[n]},
             brief(stage.values[n]) + note);
}

ChartAxis stage_axis(const Stage& stage) {
  double min_value = 0, max_value = 0;
  const auto add = [&](const std::vector<double>& list) {
    for (const double v : list) {
      min_value = std::min(min_value, v);
      max_value = std::max(max_value, v);
    }
  };
  add(stage.values);
  if (stage.unencoded) add(*stage.unencoded);
  ChartAxis axis = padded_axis(min_value, max_value, true);
  axis.titles = stage.titles;
  return axis;
}

double position_sum(const PairScore& score) {
  double sum = 0;
  for (const auto& [term, value] : score.terms) {
    if (term != Term::Content) sum += static_cast<double>(value);
  }
  return sum;
}

// "q·k = 12.3, times 0.177 = 2.18, position bias -0.5: score 1.68, weight 0.42".
std::string describe_score(const AttentionTap& tap, Index head, Pair pair, const PairVectors& v,
                           bool is_unencoded) {
  const double product = v.sum.back();
  if (is_unencoded) return "q·k = " + brief(product) + " before the encoding is applied to q and k";
  const std::shared_ptr<const Part> recorded_part = tap.part();
  const Part& part = *recorded_part;
  std::string text = "q·k = " + brief(product);
  const auto score = pair_score(part, head, pair.query, pair.key);
  if (score && part.normaliser != Normaliser::FeatureRatio) {
    if (part.relu) text += ", clamped at zero " + brief(score->product);
    text += ", times " + brief(static_cast<double>(part.scale)) + " = " +
            brief(static_cast<double>(part.scale) * score->product);
    if (!part.split.empty()) {  // q and k mix content and position; the Scores view separates them
      text += ", of which positions " + brief(position_sum(*score));
    }
    for (const auto& [term, value] : score->terms) {
      if (term == Term::Content || !part.split.empty()) continue;
      std::string name(to_string(term));
      std::replace(name.begin(), name.end(), '_', ' ');
      text += (term == Term::Factor ? ", times the distance factor " : ", " + name + " ") +
              brief(value);
    }
    if (part.score_cap > 0) {
      text += ", sum " + brief(score->uncapped) + ", capped at ±" +
              brief(static_cast<double>(part.score_cap), 2);
    }
    text += ": score " + brief(score->score);
  }
  const Pattern& pattern = *tap.result.pattern;
  if (!pattern.allowed(pattern.heads() == 1 ? 0 : head, pair.query, pair.key)) {
    return text + ", but the pair is excluded";
  }
  const Tensor weights = attention_row(tap, head, pair.query);
  return text + ", weight " + brief(static_cast<double>(weights[pair.key]));
}

// Places one chart above the other, with components on the x axis, labelled by the last chart only.
std::vector<Chart> place_stages(const Page& page, const Box& box, const std::vector<Stage>& stages,
                                double height, double left) {
  std::vector<Chart> charts;
  double y = box.y;
  for (std::size_t n = 0; n < stages.size(); ++n) {
    const bool is_last = n + 1 == stages.size();
    ChartAxis x{.least = -0.5,
                .most = static_cast<double>(stages[n].values.size()) - 0.5,
                .titles = {},
                .whole = true,
                .numbers = is_last};
    if (is_last) x.titles = {"component of the head's vectors", "component"};
    const double depth = height + (is_last ? kLastStage * page.em() : 0);
    charts.push_back(place_chart(page, {box.x, y, box.width, depth}, std::move(x),
                                 stage_axis(stages[n]), left, page.em()));
    y += depth;
  }
  return charts;
}

// Draws as many stages as fit, with values at the pointer. Returns the lower edge.
double draw_stages(Page& page, const Box& box, std::vector<Stage> stages) {
  const double em = page.em(), foot = kLastStage * em;
  double left = 0;
  for (const Stage& stage : stages) left = std::max(left, y_axis_width(page, stage_axis(stage)));
  const auto stage_space = [&] { return (box.height - foot) / static_cast<double>(stages.size()); };
  while (stages.size() > kMinStages && stage_space() < kMinStage * em) stages.pop_back();
  const double height = std::min(stage_space(), kMaxStage * em);
  std::vector<Chart> charts = place_stages(page, box, stages, height, left);
  double missing = 0;
  for (const Chart& chart : charts) missing = std::max(missing, missing_y_axis_width(page, chart));
  if (missing > 0) charts = place_stages(page, box, stages, height, left + missing);
  Index marked = -1;
  for (const Chart& chart : charts) {
    const std::optional<Point>& pointer = page.input().interaction.pointer;
    if (!pointer || chart.empty() || !chart.plot.contains(*pointer)) continue;
    const auto last = static_cast<Index>(stages.front().values.size()) - 1;
    marked = std::clamp<Index>(static_cast<Index>(std::lround(chart.value_x(pointer->x))), 0, last);
  }
  for (std::size_t n = 0; n < stages.size(); ++n) {
    if (!charts[n].empty()) draw_stage(page, charts[n], stages[n], marked);
  }
  return box.y + height * static_cast<double>(stages.size()) + foot;
}

// The head's whole map without labels, below a title.
MapRaster place_small_map(const Page& page, const Box& box, const AttentionTap& tap) {
  MapRaster raster;
  const double margin = kMapTitle * page.em();
  raster.queries = query_axis(page.input().trace, tap);
  raster.keys = key_axis(page.input().trace, tap);
  raster.rows = visible_span(0, 0, tap.queries());
  raster.columns = visible_span(0, 0, tap.keys());
  raster.width = std::max(0.0, box.width - margin);
  raster.height = std::max(0.0, box.height - 2 * margin);
  raster.box = {box.x + margin, box.y + 2 * margin, raster.width, raster.height};
  return raster;
}

void draw_small_map(Page& page, const MapRaster& raster, const AttentionTap& tap, Index head,
                    Pair pair) {
  const Box box = raster.map(0);
  const double em = page.em(), title_height = kMapTitle * em;
  HeatMap cells;
  cells.box = box;
  cells.height = static_cast<double>(tap.queries());
  cells.width = static_cast<double>(tap.keys());
  const double cell_width = box.width / cells.width, cell_height = box.height / cells.height;
  const HeatMap pairs = cells;
  const ShownCells region = set_cells(cells, page.input(), tap, head);
  const ColourRange range =
      colour_range(page.input(), cells, tap, head, is_signed(tap, head), region);
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  const double scale = page.input().canvas.scale;
  const bool is_pooled = cells.width > box.width * scale || cells.height > box.height * scale;
  page.add(std::move(cells));
  cover_excluded(page, pairs, tap, head);
  const Box cell{box.x + static_cast<double>(pair.key) * cell_width,
                 box.y + static_cast<double>(pair.query) * cell_height, cell_width, cell_height};
  const Colour guide = translucent(page.theme().accent, 0.7);
  page.add(OutlinedBox{{box.x, cell.y, box.width, cell.height}, guide, 1});
  page.add(OutlinedBox{{cell.x, box.y, cell.width, box.height}, guide, 1});
  page.add(OutlinedBox{cell, page.theme().accent, 2});
  page.add(OutlinedBox{box, page.theme().line, 1});
  std::vector<std::string> titles{"the pair in the head's map", "the pair"};
  if (is_pooled) titles = {"the pair; max-pooled", "max-pooled", "pooled"};
  page.text({box.x + box.width / 2, box.y - 1.5 * title_height},
            page.fitting(titles, page.small(), box.width), page.small(), Align::Middle);
  page.faint_text({box.x + box.width / 2, box.y - title_height / 2}, "key (to)", page.small(),
                  Align::Middle);
  page.faint_text({box.x - title_height / 2, box.y + box.height / 2}, "query (from)", page.small(),
                  Align::Middle, 90);
}

// The pair that the view shows, and its vectors.
struct ShownPair {
  Pair pair;
  PairVectors vectors;
  std::optional<PairVectors> unencoded;  // vectors before the encoding, drawn as ticks
  bool is_unencoded = false;             // `vectors` are not encoded
};

ShownPair shown_pair(const ViewInput& input, const SelectedTap& selected,
                     const std::optional<Pair>& hovered) {
  const AttentionTap& tap = *selected.tap;
  const std::shared_ptr<const AttentionVectors> recorded = tap.vectors.get();
  const Part& part = *recorded->part;
  const HeadTensors<Tensor>& before = recorded->input;
  ShownPair content;
  content.pair = focus_of(input, tap, selected.head, hovered);
  const auto vectors = [&](const Tensor& q, const Tensor& k) {
    return pair_vectors(part, q, k, selected.head, content.pair);
  };
  const bool is_changed = changes_vectors(tap);
  content.is_unencoded = is_changed && view_values(input.session.view, "vectors").flag("before");
  content.vectors =
      content.is_unencoded ? vectors(before.q, before.k) : vectors(part.q.value(), part.k.value());
  if (is_changed && !content.is_unencoded) content.unencoded = vectors(before.q, before.k);
  return content;
}

// Draws the labels of the vectors and the origin of the score. Returns the lower edge.
double draw_header(Page& page, const Box& box, const SelectedTap& selected,
                   const ShownPair& content) {
  const Trace& trace = page.input().trace;
  const AttentionTap& tap = *selected.tap;
  std::vector<LegendEntry> entries{
      {query_colour(page.theme()), "query “" + query_label(trace, tap, content.pair.query) +
                                       "” at " +
                                       std::to_string(query_position(tap, content.pair.query))},
      {key_colour(page.theme()),
       "key “" + key_label(trace, tap, content.pair.key) + "” at " +
           std::to_string(key_position(tap, selected.head, content.pair.key))}};
  if (content.unencoded) {
    entries.push_back({page.theme().text, "before the encoding"});
    entries.back().tick = true;
  }
  draw_legend(page, entries, box);
  double y = box.y + legend_height(page, entries, box.width);
  for (const std::string& line : page.wrapped(
           describe_score(tap, selected.head, content.pair, content.vectors, content.is_unencoded),
           page.small(), box.width)) {
    page.text({box.x, y + kLine / 2 * page.small()}, line, page.small());
    y += kLine * page.small();
  }
  return y + 0.3 * page.em();
}

// Adds a click handle of the miniature map, and the hit test.
void add_hits(ViewLayout& layout, const MapPairAt& map_pair_at, const Box& inside,
              const ShownPair& content, const ViewSettings& settings) {
  if (map_pair_at.count > 0) {
    layout.handles.push_back({.area = map_pair_at.raster.map(0),
                              .help = "Click to pin this pair.",
                              .click = [pair = content.pair](Session& session) {
                                session.view.pinned_query = pair.query;
                                session.view.pinned_key = pair.key;
                              }});
  }
  layout.hit = [map_pair_at, inside, pair = content.pair, layer = settings.layer,
                head = settings.head](Point p) -> std::optional<Hit> {
    if (const std::optional<Pair> hovered = map_pair_at(p)) {
      return Hit{layer, head, hovered->query, hovered->key};
    }
    if (!inside.contains(p)) return std::nullopt;
    return Hit{layer, head, pair.query, pair.key};
  };
}

std::string describe_picture(const ViewInput& input, const AttentionTap& tap) {
  const ViewSettings& settings = input.session.view;
  return "Origin of one pair's score, in " + describe_head(input.trace, settings) + ": " +
         describe(tap) + ".";
}

// Side of the miniature map in pixels; 0 if it does not fit.
double map_side(const Box& inside, double em) {
  for (const MapSide& map : kMapSides) {
    if (inside.width >= map.min_width * em && inside.height >= map.side * em) {
      return map.side * em;
    }
  }
  return 0;
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const AttentionTap& tap = *selected.tap;
  if (const Refusal refusal = refusal_of_vectors(input.trace, tap)) return refusal.message(page);
  const Box inside =
      page.frame(title_with_head(input), caption(input.trace, describe_picture(input, tap)));
  const double em = page.em();
  const double side = map_side(inside, em);
  const bool has_map = side > 0;
  const MapRaster raster =
      place_small_map(page, {inside.right() - side, inside.y, side, side}, tap);
  const MapPairAt map_pair_at{raster, has_map && raster.width > 0 ? 1 : 0};
  const ShownPair content = shown_pair(
      input, selected,
      input.interaction.pointer ? map_pair_at(*input.interaction.pointer) : std::optional<Pair>());
  const double width = inside.width - side - (has_map ? em : 0);
  if (width < kMinWidth * em) return no_space(page);
  double top = draw_header(page, {inside.x, inside.y, width, inside.height}, selected, content);
  if (!has_map && !input.figure.framed) {
    page.faint_text(
        {inside.x, top + kLine / 2 * page.small()},
        page.fitting({"No space for the map of pairs: pin a pair in Map, or make the window larger",
                      "Pin a pair in Map, or make the window larger", "No space for the map"},
                     page.small(), width),
        page.small());
    top += kLine * page.small();
  }
  if (inside.bottom() - top < (kMinStages * kMinStage + kLastStage) * em) return no_space(page);
  const std::vector<Stage> stages{
      {{"q"},
       content.vectors.query,
       content.unencoded ? &content.unencoded->query : nullptr,
       query_colour(input.canvas.theme)},
      {{"k"},
       content.vectors.key,
       content.unencoded ? &content.unencoded->key : nullptr,
       key_colour(input.canvas.theme)},
      {{"q × k", "q·k"}, content.vectors.product, nullptr, head_colour(0)},
      {{"running sum", "sum"}, content.vectors.sum, nullptr, input.canvas.theme.accent, true}};
  const double bottom = draw_stages(page, {inside.x, top, width, inside.bottom() - top}, stages);
  if (map_pair_at.count > 0) draw_small_map(page, raster, tap, selected.head, content.pair);
  ViewLayout layout;
  add_hits(layout, map_pair_at, inside, content, input.session.view);
  layout.list = page.take(bottom);
  return layout;
}

ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  const AttentionTap& tap = *selected.tap;
  refusal_of_vectors(input.trace, tap).throw_if_refused();
  const PairVectors v = shown_pair(input, selected, std::nullopt).vectors;
  const auto d = static_cast<Index>(v.query.size());
  ViewData::Matrix matrix{"vectors", Tensor({4, d}), {"q", "k", "q × k", "running sum"}, {}};
  Index row = 0;
  for (const std::vector<double>* list : {&v.query, &v.key, &v.product, &v.sum}) {
    std::transform(list->begin(), list->end(), matrix.values.data() + row++ * d,
                   [](double x) { return static_cast<float>(x); });
  }
  return {{std::move(matrix)}};
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const AttentionTap* tap = trace != nullptr ? trace->find(head_ref(*trace, settings)) : nullptr;
  if (tap == nullptr || tap->settings() == nullptr) return;
  if (!changes_vectors(*tap)) {
    controls.idle["before"] = "The encoding does not change query and key.";
  }
}

}  // namespace

View vectors_view() {
  return {.id = "vectors",
          .label = "Vectors",
          .group = "Attention",
          .summary = "Query and key of a pair, component by component, and their product.",
          .lay_out = lay_out,
          .reading = fixed_reading(
              "The query of one token and the key of another, component by component. If both have "
              "the same sign, the product raises the score; the running sum ends at q · k.",
              {{"q", "the query of a token: what it searches for."},
               {"k", "the key of a token: what it offers to other tokens."}}),
          .data = data,
          .findings = {{Findings::maps.id}},
          .options = {.parameters = {{.key = "before",
                                      .label = "Before the encoding",
                                      .help = "Query and key before a rotary encoding is applied.",
                                      .kind = Parameter::Kind::Flag,
                                      .initial = false}},
                      .restrict_controls = restrict_controls},
          .content = {.objection = objection_to_all(refusal_of_vectors)}};
}

}  // namespace attnscope
