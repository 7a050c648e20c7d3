// Receptive field of each layer, and cost of reading in segments.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/figure/ticks.h"
#include "core/view/memory/memory_panels.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kRow = 1.35;     // em: preferred height of a layer's row
constexpr double kMaxRow = 2.6;   // em
constexpr double kMinRow = 0.35;  // em
constexpr double kAxis = 1.5;     // em: tick labels
constexpr double kFormula = 1.3;  // em: line with a formula
constexpr double kBarGap = 0.12;  // gap between bars, relative to a row

// Maps token indices to pixels: `count` tokens are `width` wide.
struct TokenLine {
  double x = 0, width = 0, count = 1;
  double x_at(Index token) const { return x + static_cast<double>(token) / count * width; }
  Box box(Index first, Index last, double y, double height) const {
    return {x_at(first), y, std::max(x_at(last + 1) - x_at(first), 1.0), height};
  }
};

// First token and number of tokens of each segment.
std::vector<std::pair<Index, Index>> segments_of(const Trace& trace) {
  const auto length = static_cast<Index>(trace.tokens.size());
  std::vector<std::pair<Index, Index>> segments;
  for (Index first = 0; first < length; first += trace.config->segment) {
    segments.emplace_back(first, std::min(trace.config->segment, length - first));
  }
  return segments;
}

void draw_segments(Page& page, const TokenLine& line, double y, double height,
                   const ShownMemory& memory, std::vector<Box>& boxes) {
  const auto segments = segments_of(memory.trace);
  for (std::size_t n = 0; n < segments.size(); ++n) {
    const auto [first, count] = segments[n];
    const Box box = line.box(first, first + count - 1, y, height);
    const bool is_selected = static_cast<Index>(n) == memory.segment;
    const bool is_later = static_cast<Index>(n) > memory.segment;
    const Colour fill = is_selected ? slot_colour(KeyKind::Token)
                        : is_later  ? page.theme().background
                                    : blend(page.theme().background, page.theme().line, 0.6);
    page.add(FilledBox{box, fill});
    page.add(OutlinedBox{box, page.theme().line, 1});
    const std::string label = page.fitting({"segment " + std::to_string(n), std::to_string(n), ""},
                                           page.small(), box.width - 0.4 * page.em());
    page.add(Text{{box.x + box.width / 2, box.y + box.height / 2},
                  label,
                  is_later ? page.theme().faint_text : ink_on(fill),
                  page.small(),
                  Align::Middle,
                  0,
                  is_selected});
    boxes.push_back(box);
  }
}

void draw_remembered_tokens(Page& page, const TokenLine& line, double y, double height,
                            const ShownMemory& memory) {
  for (std::size_t column = 0; column < memory.sources.size(); ++column) {
    const RowSource& source = memory.sources[column];
    if (source.first < 0) continue;
    const KeyKind kind = memory.kind_of(static_cast<Index>(column));
    const Box source_box = line.box(source.first, source.last(), y, height);
    const double gap = kind == KeyKind::Compressed && source_box.width > 3 ? 1 : 0;
    for (Index token = source.first; token <= source.last(); token += source.step) {
      const Index last = source.step == 1 ? source.last() : token;
      const Box box = line.box(token, last, y, height);
      page.add(
          FilledBox{{box.x, box.y, std::max(box.width - gap, 1.0), box.height}, slot_colour(kind)});
      if (source.step == 1) break;
    }
  }
}

void draw_layers(Page& page, const TokenLine& line, double y, double pitch,
                 const ShownMemory& memory, const std::vector<Index>& oldest, double left) {
  const double em = page.em();
  const auto label_distance =
      static_cast<std::size_t>(std::max(1.0, std::ceil(1.1 * page.small() / pitch)));
  for (std::size_t n = 0; n < oldest.size(); ++n) {
    const double top = y + static_cast<double>(n) * pitch;
    const Box bar =
        line.box(oldest[n], memory.last_token(), top + kBarGap * pitch, pitch * (1 - 2 * kBarGap));
    const bool is_selected = static_cast<Index>(n) == memory.tap.address.layer;
    page.add(FilledBox{bar, translucent(page.theme().accent, is_selected ? 0.75 : 0.4)});
    if (n % label_distance != 0) continue;
    page.faint_text({left - 0.5 * em, top + pitch / 2}, "layer " + std::to_string(n), page.small(),
                    Align::End);
    const Index distance = memory.last_token() - oldest[n];
    const std::string text = std::to_string(distance) + " back";
    const double width = page.width_of(text, page.small());
    if (pitch < 1.1 * page.small()) continue;
    const bool fits_inside = bar.width > width + em;
    if (!fits_inside && bar.x - 0.4 * em - width < line.x) continue;
    const Point position{fits_inside ? bar.x + 0.4 * em : bar.x - 0.4 * em, bar.y + bar.height / 2};
    page.text(position, text, page.small(), fits_inside ? Align::Start : Align::End);
  }
}

void draw_token_numbers(Page& page, const TokenLine& line, double y, double bottom) {
  const double em = page.em();
  const int count = std::max(2, static_cast<int>(line.width / (5 * em)));
  for (const double tick : round_ticks(0, line.count, count)) {
    if (tick != std::floor(tick)) continue;
    const double x = line.x + tick / line.count * line.width;
    page.add(Line{{{x, y}, {x, bottom}}, translucent(page.theme().line, 0.35), 1});
    page.faint_text({x, bottom + 0.75 * em}, fixed(tick, 0), page.small(), Align::Middle);
  }
}

// The limit of the receptive field as a formula: "m·N = 64 · 4 = 256"; empty for variants without a
// limited memory.
std::string range_formula(const ShownMemory& memory) {
  const Trace& trace = memory.trace;
  const std::optional<TemporalRange> range = temporal_range(
      memory.tap.variant, trace.config->segment, trace.layer_count({.segment = memory.segment}));
  if (!range) return "";
  const auto number = [](Index n) { return std::to_string(n); };
  const std::string rows = range->compressed == 0
                               ? number(range->memory)
                               : "(" + number(range->memory) + " + " + number(range->rate) + " · " +
                                     number(range->compressed) + ")";
  return (range->compressed == 0 ? "m·N = " : "(m_m + c·m_cm)·N = ") + rows + " · " +
         number(range->layers) + " = " + grouped(range->tokens());
}

// Cost of a segment as a formula, longest first: "O(L² + L·m) per segment, L = 64, m = 64", the
// same without numbers, the formula alone; "O(L²)" without memory.
std::vector<std::string> cost_formulas(const ShownMemory& memory) {
  const Index segment = memory.trace.config->segment;
  const std::optional<TemporalRange> range = temporal_range(memory.tap.variant, segment, 1);
  const std::string length = std::to_string(segment);
  std::string formula = "L²", numbers = "L = " + length;
  if (range && range->compressed > 0) {
    formula += " + L·(m_m + m_cm)";
    numbers += ", m_m = " + std::to_string(range->memory) +
               ", m_cm = " + std::to_string(range->compressed);
  } else if (range) {
    formula += " + L·m";
    numbers += ", m = " + std::to_string(range->memory);
  }
  formula = "O(" + formula + ")";
  return {formula + " per segment, " + numbers, formula + ", " + numbers, formula + " per segment",
          formula};
}

}  // namespace

double range_height(const Page& page, const ShownMemory& memory) {
  const auto layers = static_cast<double>(memory.trace.layer_count({.segment = memory.segment}));
  return panel_title_height(page) + (2 * kRow + 0.3 + layers * kRow + kAxis + 0.6) * page.em() +
         (range_formula(memory).empty() ? 0 : kFormula * page.em());
}

std::vector<Box> draw_range(Page& page, const Box& box, const ShownMemory& memory,
                            const std::vector<Index>& oldest_tokens) {
  const double em = page.em();
  draw_panel_title(page, box,
                   {"Receptive field of the last token of segment " +
                        std::to_string(memory.segment) + ", by layer",
                    "Receptive field by layer", "Range"});
  const std::string name = "held";
  double label_width = page.width_of(name, page.small());
  for (const std::size_t n : {std::size_t{0}, oldest_tokens.size() - 1}) {
    label_width = std::max(label_width, page.width_of("layer " + std::to_string(n), page.small()));
  }
  const double left = box.x + label_width + 0.6 * em;
  const TokenLine line{left, box.right() - left - 1.2 * em,
                       static_cast<double>(memory.trace.tokens.size())};
  double y = box.y + panel_title_height(page);
  if (const std::string formula = range_formula(memory); !formula.empty()) {
    page.faint_text({box.x, y + 0.3 * em},
                    page.fitting({"Temporal range: " + formula + " tokens before the segment",
                                  "Range: " + formula + " tokens back", formula},
                                 page.small(), box.width),
                    page.small());
    y += kFormula * em;
  }
  const double space = box.bottom() - y - (kAxis + 0.3) * em;
  const auto layer_count = static_cast<double>(oldest_tokens.size());
  const double strip =
      std::min(kMaxRow * em, std::max(space / (layer_count + 2), std::min(kRow * em, space / 4)));
  const double row_height = std::min(kMaxRow * em, (space - 2 * strip) / layer_count);
  std::vector<Box> segments;
  if (row_height < kMinRow * em || line.width < 8 * em) return segments;
  const double layers_y = y + 2 * strip + 0.3 * em;
  const double bottom = layers_y + row_height * static_cast<double>(oldest_tokens.size());
  draw_token_numbers(page, line, y + strip, bottom);
  draw_segments(page, line, y, strip, memory, segments);
  draw_remembered_tokens(page, line, y + strip + 0.15 * em, strip - 0.15 * em, memory);
  page.faint_text({left - 0.5 * em, y + 1.5 * strip}, name, page.small(), Align::End);
  draw_layers(page, line, layers_y, row_height, memory, oldest_tokens, left);
  return segments;
}

namespace {

constexpr Index kMaxPoints = 96;  // points per curve

struct CostCurves {
  std::vector<Point> whole_text, segments;  // {tokens, products / unit}
  Index max_length = 1;
  double unit = 1;
  std::string unit_name;            // "thousand "
  std::vector<std::string> titles;  // candidate titles of the product axis, with the unit
};

CostCurves cost_curves(const ShownMemory& memory) {
  const auto length = static_cast<Index>(memory.trace.tokens.size());
  const Index segment = memory.trace.config->segment;
  CostCurves curves;
  curves.max_length = 2 * std::max(length, segment);
  const double max_products = causal_pair_count(curves.max_length);
  curves.unit = max_products >= 2e6 ? 1e6 : max_products >= 2e4 ? 1e3 : 1;
  curves.titles = {"products q·k", "products", ""};
  if (curves.unit > 1) {
    const bool is_million = curves.unit > 1e3;
    const std::string name = is_million ? "million" : "thousand";
    curves.unit_name = name + " ";
    curves.titles = {name + " products q·k", name + " products",
                     is_million ? "millions" : "× 1000"};
  }
  const Index step = std::max<Index>(1, curves.max_length / kMaxPoints);
  for (Index n = 0; n <= curves.max_length; n += step) {
    const auto x = static_cast<double>(n);
    curves.whole_text.push_back({x, causal_pair_count(n) / curves.unit});
    curves.segments.push_back({x, pairs_in_segments(memory.tap.variant, segment, n) / curves.unit});
  }
  return curves;
}

}  // namespace

void draw_cost(Page& page, const Box& box, const ShownMemory& memory) {
  constexpr double kMinTitledHeight = 14;  // em: higher charts have axis titles
  const double em = page.em();
  const CostCurves curves = cost_curves(memory);
  draw_panel_title(
      page, box,
      {"Cost per head by text length: " + curves.unit_name + "products q·k by tokens",
       "Cost of a head: " + curves.unit_name + "products by tokens",
       "Cost: " + curves.unit_name + "products by tokens", "Cost against length", "Cost"});
  const auto length = static_cast<Index>(memory.trace.tokens.size());
  const double segment_products =
      pairs_in_segments(memory.tap.variant, memory.trace.config->segment, length);
  const Colour whole_colour = page.theme().faint_text, split_colour = page.theme().accent;
  const std::string whole = grouped(std::llround(causal_pair_count(length)));
  const std::string split = grouped(std::llround(segment_products));
  const auto legend_entries = [&](const std::string& a, const std::string& b) {
    return std::vector<LegendEntry>{{whole_colour, a + whole, false, true},
                                    {split_colour, b + split, false, true}};
  };
  std::vector<LegendEntry> entries = legend_entries("whole text: ", "in segments: ");
  const double line_height = legend_height(page, {entries.front()}, box.width);
  if (legend_height(page, entries, box.width) > line_height)
    entries = legend_entries("whole: ", "segments: ");
  // The legend is above the chart, where it covers no curve.
  const double legend_space = legend_height(page, entries, box.width);
  double y = box.y + panel_title_height(page);
  draw_legend(page, entries, {box.x, y, box.width, legend_space});
  y += legend_space;
  page.faint_text({box.x, y + 0.3 * em},
                  page.fitting(cost_formulas(memory), page.small(), box.width), page.small());
  y += kFormula * em;
  ChartAxis tokens{
      .least = 0, .most = static_cast<double>(curves.max_length), .titles = {}, .whole = true};
  ChartAxis products{.least = 0, .most = 1.05 * curves.whole_text.back().y, .titles = {}};
  if (box.height >= kMinTitledHeight * em) {
    tokens.titles = {"tokens of text (line: this text)", "tokens of text", "tokens"};
    products.titles = curves.titles;
  }
  const Chart chart = place_chart(page, {box.x, y, box.width, box.bottom() - y}, std::move(tokens),
                                  std::move(products));
  if (chart.empty()) return;
  draw_chart(page, chart);
  draw_curve(page, chart, curves.whole_text, translucent(whole_colour, 0.6), 4);
  draw_curve(page, chart, curves.segments, split_colour, 2.5);
  const double x = chart.at_x(static_cast<double>(length));
  page.add(
      Line{{{x, chart.plot.y}, {x, chart.plot.bottom()}}, translucent(page.theme().text, 0.5), 1});
  if (const std::optional<Point>& p = page.input().interaction.pointer;
      p && chart.plot.contains(*p)) {
    const double rounded = std::round(chart.value_x(p->x));
    const auto tokens = static_cast<Index>(rounded);
    const double pairs =
        pairs_in_segments(memory.tap.variant, memory.trace.config->segment, tokens);
    draw_value(page, chart, {rounded, pairs / curves.unit},
               grouped(tokens) + " tokens: " + grouped(std::llround(pairs)) + " of " +
                   grouped(std::llround(causal_pair_count(tokens))));
  }
}

}  // namespace attnscope
