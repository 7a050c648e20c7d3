#include "core/view/span/span_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/span.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/chart_cells.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

// Distance beyond which a head attends to nothing: max_span for learned spans, else infinity.
double mask_limit(const SpanState& state) {
  return state.is_learned ? state.span.max_span : std::numeric_limits<double>::infinity();
}

double mask_at(double z, double ramp, double limit, double distance) {
  return distance > limit ? 0 : span_mask(z, ramp, distance);
}

std::vector<Point> mask_curve(double z, double ramp, double limit, double reach) {
  const double end = std::min(limit, reach);
  const auto point_at = [&](double x) { return Point{x, span_mask(z, ramp, x)}; };
  std::vector<Point> curve{point_at(0), point_at(std::clamp(z, 0.0, end)),
                           point_at(std::clamp(z + ramp, 0.0, end)), point_at(end)};
  if (end < reach) curve.insert(curve.end(), {{end, 0}, {reach, 0}});
  return curve;
}

struct Bar {
  Index layer, head;
  double value;
};

struct CausalHead {
  const AttentionTap* tap;
  Index group_head;  // index within the tap's group
  Index layer, head;
};

// weight_by_distance() of each head, padded with 0.  [heads, largest number of keys]
Tensor weights_by_distance(const std::vector<CausalHead>& heads) {
  Index max_keys = 1;
  for (const CausalHead& head : heads) max_keys = std::max(max_keys, head.tap->keys());
  Tensor table = Tensor::zeros({static_cast<Index>(heads.size()), max_keys});
  for (std::size_t n = 0; n < heads.size(); ++n) {
    const Tensor weights = weight_by_distance(*heads[n].tap, heads[n].group_head);
    std::copy(weights.begin(), weights.end(), table.data() + static_cast<Index>(n) * max_keys);
  }
  return table;
}

bool has_span(const AttentionTap& tap) {
  return tap.settings() != nullptr && tap.settings()->normaliser == Normaliser::SpanSoftmax;
}

// Heads with causal attention.
std::vector<CausalHead> causal_heads(const ViewInput& input) {
  std::vector<CausalHead> heads;
  for (const HeadRef& ref : input.trace.heads(input.part())) {
    Index group_head = 0;
    const AttentionTap* tap = input.trace.find(ref, &group_head);
    if (tap->causal && tap->queries() > 0) heads.push_back({tap, group_head, ref.layer, ref.head});
  }
  return heads;
}

// A bar for each head: its span, or the fraction of its weight within the shown span.
std::vector<Bar> head_bars(const ViewInput& input, const AttentionTap& tap,
                           const SpanState& state) {
  std::vector<Bar> bars;
  std::vector<CausalHead> heads = causal_heads(input);
  if (state.is_model_span()) {
    std::erase_if(heads, [](const CausalHead& head) { return !has_span(*head.tap); });
    for (const CausalHead& head : heads) {
      const double z = head_span(*head.tap->settings(), head.group_head).mean();
      bars.push_back({head.layer, head.head, z});
    }
    return bars;
  }
  if (heads.empty()) return bars;
  const Tensor distances = cached_for_run(input, tap, CacheKey("weights by distance", input.part()),
                                          [&] { return weights_by_distance(heads); });
  for (std::size_t n = 0; n < heads.size(); ++n) {
    const Tensor weights = distances.slice(static_cast<Index>(n), 1).reshaped({distances.dim(1)});
    bars.push_back({heads[n].layer, heads[n].head, kept_fraction(weights, state.span)});
  }
  return bars;
}

// z, R and remaining weight of each head; NaN without a span.
ViewData::Matrix heads_table(const ViewInput& input, const SpanState& state) {
  const std::vector<CausalHead> heads = causal_heads(input);
  ViewData::Matrix matrix{"heads",
                          Tensor({static_cast<Index>(heads.size()), 5}),
                          {},
                          {"layer", "head", "z", "R", "share of weight kept"},
                          {"of"}};
  for (std::size_t n = 0; n < heads.size(); ++n) {
    const CausalHead& head = heads[n];
    const bool has_z = !state.is_model_span() || has_span(*head.tap);
    const HeadSpan span = state.is_model_span() && has_z
                              ? head_span(*head.tap->settings(), head.group_head)
                              : state.span;
    const double numbers[] = {static_cast<double>(head.layer), static_cast<double>(head.head),
                              has_z ? span.mean() : NAN, has_z ? span.ramp : NAN,
                              has_z ? kept_fraction(*head.tap, head.group_head, span) : NAN};
    std::transform(std::begin(numbers), std::end(numbers),
                   matrix.values.data() + 5 * static_cast<Index>(n),
                   [](double x) { return static_cast<float>(x); });
    matrix.rows.push_back("layer " + std::to_string(head.layer) + ", head " +
                          std::to_string(head.head));
  }
  return matrix;
}

}  // namespace

Tensor cached_for_run(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                      const std::function<Tensor()>& make) {
  return input.cache == nullptr ? make() : input.cache->matrix(tap.result.pattern, key, make);
}

Tensor cached_for_span(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                       const SpanState& state, const std::function<Tensor()>& make) {
  return cached_for_run(
      input, tap, state.is_model_span() ? key.with("own") : key.with(state.z, state.ramp), make);
}

double kept_fraction(const ViewInput& input, const AttentionTap& tap, Index head,
                     const SpanState& state) {
  const ViewSettings& view = input.session.view;
  if (state.is_model_span()) {
    const CacheKey key = head_key("share kept", input.trace, view);
    const Tensor fraction = cached_for_span(input, tap, key, state, [&] {
      return Tensor::full({1}, static_cast<float>(kept_fraction(tap, head, state.span)));
    });
    return static_cast<double>(fraction[0]);
  }
  return kept_fraction(cached_for_run(input, tap, head_key("weight by distance", input.trace, view),
                                      [&] { return weight_by_distance(tap, head); }),
                       state.span);
}

Colour span_colour(const Theme& theme, const AttentionTap& tap, Index head,
                   const SpanState& state) {
  if (!state.is_model_span()) return theme.accent;
  return head_colour(tap.heads[static_cast<std::size_t>(head)]);
}

Chart draw_span_masks(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const SpanState& state, double reach) {
  const double em = page.em();
  const Chart chart = place_chart(
      page, box,
      {.least = 0, .most = reach, .titles = {"distance, query − key", "distance"}, .whole = true},
      {.least = -0.09, .most = 1.09, .titles = {"mask m_z", "m_z"}});
  if (chart.empty()) return chart;
  draw_chart(page, chart);
  const PartSettings& part = *tap.settings();
  const double limit = mask_limit(state);
  if (state.is_learned) {
    for (Index n = 0; n < part.heads; ++n) {
      draw_curve(page, chart, mask_curve(head_span(part, n).mean(), part.span_ramp, limit, reach),
                 head_colour(tap.heads[static_cast<std::size_t>(n)]), 1.5);
    }
  }
  draw_curve(page, chart, mask_curve(state.z, state.ramp, limit, reach),
             span_colour(page.theme(), tap, head, state), 3.5);
  page.add(Clip{chart.plot});
  const auto draw_knob = [&](double x, double y) {
    if (x < 0 || x > reach) return;
    page.add(disc({chart.at_x(x), chart.at_y(y)}, 0.45 * em, page.theme().background));
    page.add(circle({chart.at_x(x), chart.at_y(y)}, 0.45 * em, page.theme().accent, 2));
  };
  draw_knob(state.z, 1);
  draw_knob(state.z + state.ramp, 0);
  page.add(Clip{});
  if (const std::optional<Point>& p = page.input().interaction.pointer;
      p && chart.plot.contains(*p)) {
    const double x = std::round(chart.value_x(p->x)), mask = mask_at(state.z, state.ramp, limit, x);
    draw_value(page, chart, {x, mask}, "distance " + fixed(x, 0) + ": " + brief(mask));
  }
  return chart;
}

namespace {

// Marks the end of the text, beyond which spans have no effect. Returns the box of the label, or an
// empty box without a label.
Box draw_text_end(Page& page, const Chart& chart, const std::vector<Bar>& bars, Index length) {
  const auto end = static_cast<double>(length - 1);
  if (!(end < chart.y.most)) return {};
  const auto beyond = std::ranges::count_if(bars, [&](const Bar& b) { return b.value > end; });
  const double y = chart.at_y(end);
  page.add(FilledBox{{chart.plot.x, chart.plot.y, chart.plot.width, y - chart.plot.y},
                     translucent(page.theme().background, 0.6)});
  page.add(Line{{{chart.plot.x, y}, {chart.plot.right(), y}}, page.theme().accent, 1.5});
  const std::string end_text = "end of this text";
  const std::string count = beyond == 0 ? "none" : std::to_string(beyond);
  const std::string cut_text =
      end_text + ": cuts off " + count + " of " + std::to_string(bars.size()) + " spans";
  const double size = page.small(), max_width = chart.plot.width - 0.6 * page.em();
  const bool is_above = y - chart.plot.y > 1.6 * page.em();
  const Point anchor{chart.plot.right() - 0.3 * page.em(), y + (is_above ? -0.8 : 0.8) * page.em()};
  const std::string label = page.fitting({cut_text, end_text, "text"}, size, max_width);
  page.text(anchor, label, size, Align::End);
  const double width = page.width_of(label, size);
  return {anchor.x - width, anchor.y - 0.6 * size, width, 1.2 * size};
}

// Writes z above a bar if the bar is wide enough and the text does not overlap `label`.
void draw_bar_number(Page& page, const Chart& chart, double x, double value, const Box& label) {
  const std::string text = fixed(value, 0);
  const double size = page.small(), width = chart.at_x(1) - chart.at_x(0);
  const double y = chart.at_y(value) - 0.65 * size;
  if (page.width_of(text, size) > 0.98 * width || y - 0.6 * size < chart.plot.y) return;
  const double left = chart.at_x(x) - page.width_of(text, size) / 2;
  const bool overlaps = left < label.right() && label.x < left + page.width_of(text, size) &&
                        y - 0.6 * size < label.bottom() && label.y < y + 0.6 * size;
  if (!overlaps) page.text({chart.at_x(x), y}, text, size, Align::Middle);
}

}  // namespace

namespace {

constexpr double kMinBarStep = 0.3;  // em: distance of bars, below which a map replaces them
constexpr double kMinCell = 0.15;    // em: width of the map's cells

// Title of the bars' values, longest first.
std::vector<std::string> value_titles(const SpanState& state) {
  if (!state.is_model_span()) return {"share of weight kept", "weight kept", "kept"};
  return {"span z, of at most " + brief(state.span.max_span), "z"};
}

// "layer 1, head 1: keeps 62% of its weight"
std::string describe_bar(const Bar& bar, const SpanState& state) {
  return "layer " + std::to_string(bar.layer) + ", head " + std::to_string(bar.head) +
         (state.is_model_span() ? ": span " + decimal(bar.value, 1) + " tokens"
                                : ": keeps " + percent(bar.value) + " of its weight");
}

Handle head_handle(const Box& area, const Bar& bar) {
  return {.area = area,
          .help = "Show this head.",
          .click = [layer = bar.layer, head = bar.head](Session& session) {
            session.view.layer = layer;
            session.view.head = head;
          }};
}

// Chart of a map with a cell per layer (across) and head (down) in `box`; empty if the cells would
// be too narrow.
Chart place_span_cells(const Page& page, const Box& box, Index layers, Index heads) {
  const Chart chart = place_chart(page, box,
                                  {.least = -0.5,
                                   .most = static_cast<double>(layers) - 0.5,
                                   .titles = {"layer"},
                                   .whole = true},
                                  {.least = -0.5,
                                   .most = static_cast<double>(heads) - 0.5,
                                   .titles = {"head"},
                                   .whole = true,
                                   .down = true});
  const bool is_wide = !chart.empty() && chart.at_x(1) - chart.at_x(0) >= kMinCell * page.em();
  return is_wide ? chart : Chart();
}

// Adds the handles of the map's cells, outlines the selected head, and labels the cell under the
// pointer.
void add_cell_handles(Page& page, const Chart& chart, const std::vector<Bar>& bars,
                      const SpanState& state, std::vector<Handle>& handles) {
  const ViewSettings& settings = page.input().session.view;
  const std::optional<Point>& p = page.input().interaction.pointer;
  const Bar* hovered = nullptr;
  for (const Bar& bar : bars) {
    const auto x = static_cast<double>(bar.layer), y = static_cast<double>(bar.head);
    const Box cell{chart.at_x(x - 0.5), chart.at_y(y - 0.5), chart.at_x(1) - chart.at_x(0),
                   chart.at_y(1) - chart.at_y(0)};
    handles.push_back(head_handle(cell, bar));
    if (p && cell.contains(*p)) hovered = &bar;
    if (bar.layer == settings.layer && bar.head == settings.head) {
      page.add(OutlinedBox{cell, page.theme().accent, 2});
    }
  }
  if (hovered == nullptr) return;
  draw_value(page, chart, {static_cast<double>(hovered->layer), static_cast<double>(hovered->head)},
             describe_bar(*hovered, state));
}

// Draws a value for each head as a map, with a colour bar to its right, or below it if space is
// short. Returns false, without drawing, if there is no space.
bool draw_span_cells(Page& page, const Box& box, const std::vector<Bar>& bars,
                     const SpanState& state, double max_value, std::vector<Handle>& handles) {
  Index layers = 0, heads = 0;
  for (const Bar& bar : bars) {
    layers = std::max(layers, bar.layer + 1);
    heads = std::max(heads, bar.head + 1);
  }
  const double bar_width = colour_bar_width(page), bar_height = horizontal_colour_bar_height(page);
  const Box beside{box.x, box.y, box.width - bar_width, box.height};
  Chart chart = place_span_cells(page, beside, layers, heads);
  const bool is_beside = !chart.empty();
  if (!is_beside) {
    const Box above{box.x, box.y, box.width, box.height - bar_height};
    chart = place_span_cells(page, above, layers, heads);
  }
  if (chart.empty()) return false;
  ColourRange range{0, max_value, page.input().session.view.colour_map};
  if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
  Tensor values = Tensor::full({heads, layers}, NAN);
  for (const Bar& bar : bars) values(bar.head, bar.layer) = static_cast<float>(bar.value);
  draw_chart_cells(page, chart, values, range);
  if (is_beside) {
    const Box right{chart.plot.right(), chart.plot.y, bar_width, chart.plot.height};
    draw_colour_bar(page, right, range, value_titles(state));
  } else {
    draw_horizontal_colour_bar(page, {chart.plot.x, box.bottom() - bar_height}, chart.plot.width,
                               range, value_titles(state));
  }
  add_cell_handles(page, chart, bars, state, handles);
  return true;
}

// Axis of the bars of heads, grouped by layer, whose groups are separated by the width of a bar.
double bar_x(const std::vector<Bar>& bars, std::size_t n) {
  return static_cast<double>(n) + static_cast<double>(bars[n].layer);
}
ChartAxis bar_axis(const std::vector<Bar>& bars) {
  const double right = bars.empty() ? 1 : bar_x(bars, bars.size() - 1) + 1;
  ChartAxis axis{
      .least = -0.75, .most = right - 0.25, .titles = {"layer; one bar per head", "layer"}};
  for (std::size_t n = 0; n < bars.size();) {
    std::size_t end = n;
    while (end < bars.size() && bars[end].layer == bars[n].layer) ++end;
    axis.names.emplace_back((bar_x(bars, n) + bar_x(bars, end - 1)) / 2,
                            std::to_string(bars[n].layer));
    n = end;
  }
  return axis;
}

}  // namespace

void draw_span_heads(Page& page, const Box& box, const ViewInput& input, const AttentionTap& tap,
                     const SpanState& state, std::vector<Handle>& handles) {
  const std::vector<Bar> bars = head_bars(input, tap, state);
  const bool shows_spans = state.is_model_span();
  double max_value = shows_spans ? state.span.max_span : 1;
  for (const Bar& bar : bars) max_value = std::max(max_value, bar.value);
  const Chart chart =
      place_chart(page, box, bar_axis(bars),
                  {.least = 0, .most = 1.05 * max_value, .titles = value_titles(state)});
  if (chart.empty()) return;
  if (chart.at_x(1) - chart.at_x(0) < kMinBarStep * page.em() &&
      draw_span_cells(page, box, bars, state, max_value, handles)) {
    return;
  }
  draw_chart(page, chart);
  const ViewSettings& settings = input.session.view;
  for (std::size_t n = 0; n < bars.size(); ++n) {
    const Bar& bar = bars[n];
    const bool is_selected = bar.layer == settings.layer && bar.head == settings.head;
    draw_bar(page, chart, bar_x(bars, n), 0.8, bar.value,
             is_selected ? page.theme().text : translucent(head_colour(bar.head), 0.8));
    const double x = chart.at_x(bar_x(bars, n)), half = (chart.at_x(0.5) - chart.at_x(0));
    handles.push_back(head_handle({x - half, chart.plot.y, 2 * half, chart.plot.height}, bar));
  }
  if (shows_spans) {
    const Box label = draw_text_end(page, chart, bars, tap.queries());
    for (std::size_t n = 0; n < bars.size(); ++n) {
      draw_bar_number(page, chart, bar_x(bars, n), bars[n].value, label);
    }
  }
  const std::optional<Point>& p = input.interaction.pointer;
  for (std::size_t n = 0; p && chart.plot.contains(*p) && n < bars.size(); ++n) {
    const double x = bar_x(bars, n);
    if (std::abs(chart.value_x(p->x) - x) > 0.5) continue;
    draw_value(page, chart, {x, bars[n].value}, describe_bar(bars[n], state));
  }
}

bool is_dynamic(const SpanState& state) {
  return state.is_model_span() && state.span.z.rank() > 1;
}

Colour colour_of_span(const SpanState& state, double z) {
  const auto [shortest, longest] = std::minmax_element(state.span.z.begin(), state.span.z.end());
  const double low = static_cast<double>(*shortest), range = static_cast<double>(*longest) - low;
  constexpr double kMinColour = 0.08, kMaxColour = 0.95;  // range of the colour map
  const double fraction = range > 0 ? std::clamp((z - low) / range, 0.0, 1.0) : 0.5;
  return colour_map("viridis").at(kMinColour + (kMaxColour - kMinColour) * fraction);
}

void draw_span_course(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const SpanState& state, Index marked_query) {
  const PartSettings& part = *tap.settings();
  double max_z = 1;
  std::vector<std::vector<Point>> curves;
  for (Index n = 0; n < part.heads; ++n) {
    const HeadSpan span = head_span(part, n);
    std::vector<Point>& curve = curves.emplace_back();
    for (Index i = 0; i < tap.queries(); ++i) {
      curve.push_back({static_cast<double>(i), span.at(i)});
      max_z = std::max(max_z, span.at(i));
    }
  }
  const double last = std::max(1.0, static_cast<double>(tap.queries() - 1));
  const Chart chart = place_chart(
      page, box, {.least = 0, .most = last, .titles = {"token", "token"}, .whole = true},
      {.least = 0, .most = 1.06 * max_z, .titles = {"span z of each token", "z"}});
  if (chart.empty()) return;
  draw_chart(page, chart);
  for (Index n = 0; n < part.heads; ++n) {
    if (n == head) continue;
    draw_curve(page, chart, curves[static_cast<std::size_t>(n)],
               translucent(head_colour(tap.heads[static_cast<std::size_t>(n)]), 0.5), 1.2);
  }
  draw_curve(page, chart, curves[static_cast<std::size_t>(head)],
             head_colour(tap.heads[static_cast<std::size_t>(head)]), 3);
  const std::optional<Point>& p = page.input().interaction.pointer;
  if (p && chart.plot.contains(*p)) marked_query = std::lround(chart.value_x(p->x));
  if (marked_query < 0 || marked_query >= tap.queries()) return;
  const double z = state.span.at(marked_query);
  draw_value(page, chart, {static_cast<double>(marked_query), z},
             "token " + std::to_string(marked_query) + ": span " + decimal(z, 1) + " tokens");
}

std::vector<ViewData::Matrix> span_numbers(const ViewInput& input, const AttentionTap& tap,
                                           const SpanState& state, Index reach) {
  const PartSettings& part = *tap.settings();
  ViewData::Matrix masks{"mask by distance", {}, {}, {}, {"span"}};
  std::vector<std::pair<double, double>> spans{{state.z, state.ramp}};  // z, R
  masks.rows.emplace_back("shown");
  for (Index h = 0; state.is_learned && h < part.heads; ++h) {
    spans.emplace_back(head_span(part, h).mean(), part.span_ramp);
    masks.rows.push_back("head " + std::to_string(tap.heads[static_cast<std::size_t>(h)]));
  }
  masks.values = Tensor({static_cast<Index>(spans.size()), reach + 1});
  for (Index x = 0; x <= reach; ++x) masks.columns.push_back(std::to_string(x));
  for (std::size_t n = 0; n < spans.size(); ++n) {
    for (Index x = 0; x <= reach; ++x) {
      masks.values(static_cast<Index>(n), x) = static_cast<float>(
          mask_at(spans[n].first, spans[n].second, mask_limit(state), static_cast<double>(x)));
    }
  }
  std::vector<ViewData::Matrix> matrices{std::move(masks), heads_table(input, state)};
  if (!is_dynamic(state)) return matrices;
  ViewData::Matrix by_token{"z by token", Tensor({part.heads, tap.queries()}), {}, {}, {}};
  for (const TraceToken& token : input.trace.tokens) by_token.columns.push_back(token.label);
  if (static_cast<Index>(by_token.columns.size()) != tap.queries()) by_token.columns.clear();
  for (Index h = 0; h < part.heads; ++h) {
    const HeadSpan span = head_span(part, h);
    by_token.rows.push_back("head " + std::to_string(tap.heads[static_cast<std::size_t>(h)]));
    for (Index i = 0; i < tap.queries(); ++i) {
      by_token.values(h, i) = static_cast<float>(span.at(i));
    }
  }
  matrices.push_back(std::move(by_token));
  return matrices;
}

}  // namespace attnscope
