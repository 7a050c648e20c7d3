// Span view: adaptive spans of heads, and the effect of a chosen span.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/weights.h"
#include "core/view/map/map_raster.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/refusal.h"
#include "core/view/parts/token_flow.h"
#include "core/view/span/span_charts.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kId = "span";
constexpr double kTop = 0.42;         // fraction of the height for curves and bars
constexpr double kGoodTop = 9;        // em: height of a chart
constexpr double kMinTop = 5.5;       // em: height of a chart shrunk in favour of the maps
constexpr double kMaxTop = 18;        // em
constexpr double kMinWideWidth = 24;  // em: width for curves and bars side by side
constexpr double kLegend = 1.6;       // em: height of the summary
constexpr double kGap = 0.6;          // em between charts and maps
constexpr double kNoteLine = 1.4;     // em: note on omitted parts

// True if the tap's spans come from the checkpoint.
bool has_trained_spans(const Trace& trace, const AttentionTap& tap) {
  const std::string prefix = group_prefix(tap.address.layer, tap.address.group) + "span.";
  return std::none_of(trace.untrained.begin(), trace.untrained.end(),
                      [&](const std::string& name) { return name.starts_with(prefix); });
}

// True if the head's ramp and maximum span equal the checkpoint's.
bool has_trained_reach(const Trace& trace, const AttentionTap& tap, Index head) {
  const auto layer = static_cast<std::size_t>(tap.address.layer);
  if (!trace.trained || layer >= trace.trained->groups.size()) return true;
  Index group_end = 0;
  for (const HeadGroup& group : trace.trained->groups[layer]) {
    group_end += group.heads;
    if (tap.heads[static_cast<std::size_t>(head)] >= group_end) continue;
    const Values &current = tap.variant.values, &trained = group.variant.values;
    return group.variant.id == tap.variant.id &&
           trained.integer("span") == current.integer("span") &&
           trained.real("ramp") == current.real("ramp");
  }
  return true;
}

SpanState shown_span(const ViewInput& input, const AttentionTap& tap, Index head) {
  const Values values = view_values(input.session.view, kId);
  const PartSettings& part = *tap.settings();
  SpanState state;
  state.is_learned = part.normaliser == Normaliser::SpanSoftmax;
  state.is_trained = state.is_learned && has_trained_spans(input.trace, tap);
  state.has_trained_reach = !state.is_trained || has_trained_reach(input.trace, tap, head);
  state.is_changed = values.has("z") || values.has("ramp");
  state.span =
      state.is_learned ? head_span(part, head) : fixed_span(4, 4, static_cast<double>(tap.keys()));
  if (values.has("ramp")) state.span.ramp = values.real("ramp");
  state.z = values.has("z") ? values.real("z") : state.span.mean();
  state.ramp = state.span.ramp;
  if (state.is_changed) state.span = fixed_span(state.z, state.ramp, state.span.max_span);
  return state;
}

std::string span_text(const SpanState& state) {
  return "z = " + decimal(state.z) + ", R = " + decimal(state.ramp);
}

// Candidate texts for the origin of the span, longest first.
std::vector<std::string> span_origin(const SpanState& state) {
  if (state.is_model_span() && state.is_trained && state.has_trained_reach)
    return {"trained", "trained"};
  if (state.is_model_span() && state.is_trained) {
    return {"z is trained, but with another ramp or maximum span", "z trained differently",
            "not as trained"};
  }
  if (state.is_model_span()) return {"untrained: initial spans", "untrained"};
  return {
      state.is_trained ? "set here, overriding the model's" : "set here: the model has no spans",
      "set here, not the model's", "not the model's"};
}

// Draws the summary above the picture, and the origin of the span.
void draw_summary(Page& page, const Box& inside, const AttentionTap& tap, Index head,
                  const SpanState& state) {
  const ViewSettings& settings = page.input().session.view;
  const std::vector<LegendEntry> entries{
      {span_colour(page.theme(), tap, head, state),
       span_text(state) + ": " + describe_head(page.input().trace, settings) + " keeps " +
           percent(kept_fraction(page.input(), tap, head, state)) + " of its weight"}};
  const Box line{inside.x, inside.y, inside.width, kLegend * page.em()};
  const double end = draw_legend(page, entries, line).front().right() + page.em();
  const std::vector<std::string> origin = span_origin(state);
  if (end + page.width_of(origin.back(), page.small()) > inside.right()) return;
  page.faint_text({end, line.y + 0.725 * page.em()},
                  page.fitting(origin, page.small(), inside.right() - end), page.small());
}

// Layout: bars to the right of the curves, or below them in narrow pictures; maps at the bottom. If
// space is short, the maps are omitted first, then the bars.
struct Parts {
  Box curves, bars;     // zero width if omitted
  MapRaster maps;       // zero width if omitted
  std::string omitted;  // names of omitted parts
};

Parts place_parts(const Page& page, const Box& inside, const AttentionTap& tap) {
  const double em = page.em(), gap = kGap * em, y = inside.y + kLegend * em;
  const double space = inside.bottom() - y;
  const bool is_narrow = inside.width < kMinWideWidth * em;
  const double rows = is_narrow ? 2 : 1;
  Parts parts;
  double height = 0;  // height of a chart
  for (const double min_height : {kGoodTop, 7.0, kMinTop}) {
    height = std::clamp(kTop * inside.height / rows, min_height * em, kMaxTop * em);
    const double top = rows * (height + gap);
    parts.maps = place_maps(page, {inside.x, y + top, inside.width, space - top}, tap, 2);
    if (parts.maps.width > 0) break;
  }
  const double remaining = space - kNoteLine * em;  // space above a note
  bool has_bars = true;
  if (!(parts.maps.width > 0)) {
    parts.omitted = "the maps of the attention";
    height = std::min(remaining / rows - gap, kMaxTop * em);
    has_bars = !is_narrow || height >= kMinTop * em;
  }
  if (!has_bars) {
    parts.omitted = "the bars and maps";
    height = std::min(remaining, kMaxTop * em);
  }
  if (height < kMinTop * em) return parts;
  const double width = is_narrow ? inside.width : (inside.width - em) / 2;
  parts.curves = {inside.x, y, width, height};
  if (has_bars && is_narrow) parts.bars = {inside.x, y + height + gap, width, height};
  if (has_bars && !is_narrow) parts.bars = {inside.x + width + em, y, width, height};
  return parts;
}

std::string describe_picture(const ViewInput& input, const AttentionTap& tap,
                             const SpanState& state) {
  const ViewSettings& settings = input.session.view;
  std::string text =
      capitalised(describe_head(input.trace, settings)) + ": " + describe(tap) + ". ";
  if (state.is_model_span() && state.is_trained) {
    text += state.has_trained_reach
                ? "The spans are trained: the range of each head was learned, and long "
                  "spans were penalised."
                : "z is trained, but with another ramp or maximum span.";
  } else if (state.is_model_span()) {
    text += "The spans are untrained: initial values of training, not its result.";
  } else if (state.is_trained) {
    text += "z and R are set in this view, overriding the model's.";
  } else {
    text +=
        "This model has no spans: z and R are set in this view, and the maps show their effect on "
        "this head's attention.";
  }
  return text +
         " A key at distance x is weighted by m_z(x) = clamp((R + z − x) / R, 0, 1), and rows are "
         "normalised again.";
}

void add_handles(ViewLayout& layout, double em, const Chart& chart, const SpanState& state) {
  if (chart.empty()) return;
  const auto area = [&](double x, double y) {
    return Box{chart.at_x(x) - 0.9 * em, chart.at_y(y) - 0.9 * em, 1.8 * em, 1.8 * em};
  };
  const auto value = [chart](Point p) {
    return std::clamp(std::round(4 * chart.value_x(p.x)) / 4, 0.0, chart.x.most);
  };
  layout.handles.push_back({.area = area(state.z + state.ramp, 0),
                            .help = "Drag to make the ramp R longer or shorter.",
                            .drag = [value, z = state.z](Point p, Session& session) {
                              set_view_value(session.view, kId, "ramp",
                                             std::max(0.25, value(p) - z));
                            }});
  layout.handles.push_back({.area = area(state.z, 1),
                            .help = "Drag to make the span z longer or shorter.",
                            .drag = [value](Point p, Session& session) {
                              set_view_value(session.view, kId, "z", value(p));
                            }});
}

Refusal refusal_of(const Trace& trace, const AttentionTap& tap) {
  if (trace.is_imported) {
    return {"No softmax to apply a span to", kImportedAttentionAdvice};
  }
  const PartSettings* part = tap.settings();
  constexpr Index kMaxPairs = Index{1} << 22;
  if (part == nullptr ||
      (part->normaliser != Normaliser::Softmax && part->normaliser != Normaliser::SpanSoftmax)) {
    return {"No softmax to apply a span to",
            variant(tap.variant.id).label +
                " has no single softmax over keys, or the run kept no scores. Choose full "
                "attention or adaptive span."};
  }
  if (!tap.causal) {
    const bool is_decoder =
        part_of(tap.address) == trace.part({Stack::Decoder, AttentionKind::Self});
    return {"Spans require causal attention",
            std::string("A span limits how far back a head attends. ") +
                (is_decoder ? "Make attention causal." : "Choose the decoder's self-attention.")};
  }
  if (tap.queries() > kMaxPairs / tap.keys()) {
    return {"Too many tokens for spans", "This view shows up to 2,048 tokens. Use a shorter text."};
  }
  return {};
}

struct SpanMaps {
  Tensor without_span, with_span;  // [L_q, L_k]
};

// Weights of allowed pairs; NaN for other pairs.
Tensor allowed_only(const AttentionTap& tap, Index head, const Tensor& weights) {
  const Pattern& pattern = *tap.result.pattern;
  const Index rule_head = pattern.heads() > 1 ? head : 0;
  Tensor allowed = Tensor::full(weights.shape(), NAN);
  for (Index i = 0; i < weights.dim(0); ++i) {
    for (const Run& run : pattern.row(rule_head, i)) {
      for (Index j = run.begin; j < run.end; j += run.step) allowed(i, j) = weights(i, j);
    }
  }
  return allowed;
}

// Weights up to the query's position and within the span, if there is one; NaN for other pairs.
Tensor within_span(const AttentionTap& tap, Index head, const Tensor& weights,
                   const HeadSpan* span) {
  Tensor within = Tensor::full(weights.shape(), NAN);
  for (Index i = 0; i < weights.dim(0); ++i) {
    const Index position = query_position(tap, i);
    for (Index j = 0; j < weights.dim(1); ++j) {
      const auto distance = static_cast<double>(position - key_position(tap, head, j));
      if (distance < 0) continue;
      if (span == nullptr || span->mask(i, distance) > 0) within(i, j) = weights(i, j);
    }
  }
  return within;
}

SpanMaps span_maps(const ViewInput& input, const SelectedTap& selected, const SpanState& state) {
  const AttentionTap& tap = *selected.tap;
  const ViewSettings& settings = input.session.view;
  // Pairs that a learned span excludes occur without it, and with another one.
  const auto drawn = [&](const Tensor& weights, const HeadSpan* span) {
    return state.is_learned ? within_span(tap, selected.head, weights, span)
                            : allowed_only(tap, selected.head, weights);
  };
  return {
      cached_for_run(input, tap, head_key("no span", input.trace, settings),
                     [&] { return drawn(attention_without_span(tap, selected.head), nullptr); }),
      cached_for_span(input, tap, head_key("span", input.trace, settings), state, [&] {
        return drawn(attention_with_span(tap, selected.head, state.span), &state.span);
      })};
}

// Colour range that both maps share.
ColourRange span_map_range(const ViewInput& input, const SelectedTap& selected,
                           const MapRaster& raster, const SpanMaps& maps) {
  ColourRange range = weight_colours(input, false);
  if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
  range.least = range.most = 0;
  for (const Tensor& values : {maps.without_span, maps.with_span}) {
    HeatMap cells;
    cells.values = values;
    cells.row = raster.rows.first;
    cells.height = raster.rows.extent;
    cells.column = raster.columns.first;
    cells.width = raster.columns.extent;
    const ColourRange shown = colour_range(input, cells, *selected.tap, selected.head, false);
    range.passed |= shown.passed;
    range.most = std::max(range.most, shown.most);
  }
  return range;
}

void draw_span_maps(Page& page, const MapPairAt& hits, const SelectedTap& selected,
                    const SpanState& state, const SpanMaps& maps) {
  const ViewInput& input = page.input();
  const std::string origin = !state.is_model_span() || !state.has_trained_reach ? "with "
                             : state.is_trained                                 ? "the model's: "
                                                                                : "untrained: ";
  draw_maps(page, hits.raster,
            {{{"attention without a span", "without a span", "without"}, maps.without_span},
             {{origin + span_text(state), span_text(state), "with"}, maps.with_span}},
            span_map_range(input, selected, hits.raster, maps), {"attention weight", "weight"}, -1,
            input.interaction.pointer ? hits(*input.interaction.pointer) : std::optional<Pair>());
}

struct SpanText {
  std::vector<FlowToken> tokens;
  Box box{};  // zero height if omitted
  TokenFlow flow{};
};

SpanText place_span_text(const Page& page, const Box& inside, const AttentionTap& tap,
                         const SpanState& state) {
  constexpr double kMaxSpanText = 0.16;  // fraction of the height
  constexpr double kMinChartSpace = 16;  // em
  SpanText text;
  if (!is_dynamic(state)) return text;
  const Trace& trace = page.input().trace;
  for (Index i = 0; i < tap.queries(); ++i) {
    text.tokens.push_back({query_label(trace, tap, i), colour_of_span(state, state.span.at(i))});
  }
  const double em = page.em();
  const double height = token_flow_height(page, text.tokens, inside.width,
                                          std::max(1.8 * em, kMaxSpanText * inside.height));
  if (inside.height - height - swatches_height(page) < kMinChartSpace * em) return text;
  text.box = {inside.x, inside.y + kLegend * em, inside.width, height};
  return text;
}

void draw_span_text(Page& page, const SpanState& state, SpanText& text, Index pinned) {
  if (!(text.box.height > 0)) return;
  const auto visible_token = static_cast<std::size_t>(
      std::clamp<Index>(pinned, 0, static_cast<Index>(text.tokens.size()) - 1));
  text.flow = draw_token_flow(page, text.box, text.tokens, visible_token);
  double min_z = state.span.at(0), max_z = min_z;
  for (const float z : state.span.z) {
    min_z = std::min(min_z, static_cast<double>(z));
    max_z = std::max(max_z, static_cast<double>(z));
  }
  std::vector<Swatch> swatches;
  for (const double fraction : {0.0, 0.5, 1.0}) {
    const double z = min_z + fraction * (max_z - min_z);
    swatches.push_back({colour_of_span(state, z), decimal(z, 1)});
  }
  draw_swatches(page, {text.box.x, text.box.bottom()}, text.box.width,
                "span of this head at each token", swatches);
}

// Largest distance to draw: the requested one, or more if the model's span is longer.
double drawn_reach(const ViewInput& input, const SpanState& state) {
  const auto requested = static_cast<double>(view_values(input.session.view, kId).integer("reach"));
  if (!state.is_model_span() || state.z + state.ramp <= requested) return requested;
  return std::ceil(1.05 * std::min(state.z + state.ramp, std::max(requested, state.span.max_span)));
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const AttentionTap& tap = *selected.tap;
  if (const Refusal refusal = refusal_of(input.trace, tap)) return refusal.message(page);
  const SpanState state = shown_span(input, tap, selected.head);
  const Box inside =
      page.frame(title_with_head(input), caption(input.trace, describe_picture(input, tap, state)));
  SpanText text = place_span_text(page, inside, tap, state);
  Box remaining = inside;
  if (text.box.height > 0) {
    remaining.y += text.box.height + swatches_height(page);
    remaining.height -= text.box.height + swatches_height(page);
  }
  const Parts parts = place_parts(page, remaining, tap);
  if (!(parts.curves.width > 0)) return no_space(page);
  draw_summary(page, inside, tap, selected.head, state);
  draw_span_text(page, state, text, input.session.view.pinned_query);
  ViewLayout layout;
  if (is_dynamic(state)) {
    const Index hovered = input.interaction.pointer ? text.flow.at(*input.interaction.pointer) : -1;
    const Index marked_query = hovered >= 0 ? hovered : input.session.view.pinned_query;
    draw_span_course(page, parts.curves, tap, selected.head, state, marked_query);
  } else {
    const Chart chart =
        draw_span_masks(page, parts.curves, tap, selected.head, state, drawn_reach(input, state));
    if (chart.empty()) return no_space(page);
    add_handles(layout, page.em(), chart, state);
  }
  if (parts.bars.width > 0) draw_span_heads(page, parts.bars, input, tap, state, layout.handles);
  const bool has_maps = parts.maps.width > 0;
  const MapPairAt map_pair_at{parts.maps, has_maps ? 2 : 0};
  layout.hit = [](Point) { return std::optional<Hit>(); };
  if (has_maps) {
    const SpanMaps maps = span_maps(input, selected, state);
    draw_span_maps(page, map_pair_at, selected, state, maps);
    layout.hit = hit_test(map_pair_at, input.session.view, {maps.without_span, maps.with_span});
    set_plot(layout, map_pair_at, input.interaction.pointer);
  }
  double bottom =
      has_maps ? parts.maps.box.bottom() : std::max(parts.curves.bottom(), parts.bars.bottom());
  if (!parts.omitted.empty()) {
    page.faint_text(
        {inside.x, bottom + kNoteLine / 2 * page.em()},
        page.ellipsised("Enlarge the window to see " + parts.omitted, page.small(), inside.width),
        page.small());
    bottom += kNoteLine * page.em();
  }
  layout.list = page.take(bottom);
  return layout;
}

ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  const AttentionTap& tap = *selected.tap;
  refusal_of(input.trace, tap).throw_if_refused();
  const SpanState state = shown_span(input, tap, selected.head);
  const std::vector<std::string> rows = query_axis(input.trace, tap).labels;
  const std::vector<std::string> columns = key_axis(input.trace, tap).labels;
  ViewData numbers{
      {{"attention without a span", attention_without_span(tap, selected.head), rows, columns},
       {"attention with a span", attention_with_span(tap, selected.head, state.span), rows,
        columns}}};
  const auto reach = view_values(input.session.view, kId).integer("reach");
  for (ViewData::Matrix& matrix : span_numbers(input, tap, state, reach)) {
    numbers.matrices.push_back(std::move(matrix));
  }
  return numbers;
}

std::vector<Parameter> parameters() {
  return {{.key = "z",
           .symbol = "z",
           .label = "Span",
           .help = "Keys up to this distance have full weight; by default as in the model, or 4 if "
                   "it has no spans.",
           .kind = Parameter::Kind::Real,
           .optional = true,
           .unset_label = "the model's, or 4",
           .initial = 8.0,
           .limits = {.min = 0, .max = Parameter::kMaxInteger},
           .slider = {.min = 0, .max = 64}},
          {.key = "ramp",
           .symbol = "R",
           .label = "Ramp",
           .help = "Number of positions beyond the span over which weights fade; by default as in "
                   "the model, or 4 if it has no spans.",
           .kind = Parameter::Kind::Real,
           .optional = true,
           .unset_label = "the model's, or 4",
           .initial = 8.0,
           .limits = {.min = 0, .max = Parameter::kMaxInteger, .min_excluded = true},
           .slider = {.min = 1, .max = 64}},
          {.key = "reach",
           .label = "Reach",
           .help = "Largest distance to draw; learned spans are drawn in full.",
           .initial = Index{32},
           .limits = {.min = 2, .max = 4096},
           .slider = {.min = 8, .max = 256}}};
}

}  // namespace

View span_view() {
  return {
      .id = kId,
      .label = "Span",
      .group = "Depth",
      .summary = "Span of each head, and the attention that remains within a span of your choice.",
      .lay_out = lay_out,
      .reading = fixed_reading(
          "The distance back to which each head has learned to attend. Keys beyond its span have "
          "no weight, and need not be computed.",
          {{"z", "the span: up to this distance keys have full weight."},
           {"R", "the ramp: the number of further tokens over which weights fade out."}}),
      .data = data,
      .options = {.parameters = parameters(),
                  .animation = Animation{"z", 0, 32, 10},
                  .restrict_controls =
                      [](const ViewSettings&, const Trace*, ViewControls& controls) {
                        controls.colours = ViewControls::Colours::Sequential;
                      }},
      .content = {.objection = objection_to_all(refusal_of)},
      .cells = {.zoom = true}};
}

}  // namespace attnscope
