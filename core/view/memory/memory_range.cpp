// Receptive field of each layer, and cost of reading in segments.
#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/figure/ticks.h"
#include "core/view/memory/memory_panels.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kRow = 1.35;     // em, of a layer's bar
constexpr double kMaxRow = 2.6;   // em, if there is space
constexpr double kMinRow = 0.35;  // em
constexpr double kAxis = 1.5;     // em, for tick labels
constexpr double kBarGap = 0.12;  // gap between bars, relative to a row

// Maps token indices to pixels.
struct TokenLine {
  double x = 0, width = 0, count = 1;
  double at(Index token) const { return x + static_cast<double>(token) / count * width; }
  Box box(Index first, Index last, double y, double height) const {
    return {at(first), y, std::max(at(last + 1) - at(first), 1.0), height};
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
                   const ShownMemory& shown, RangePanel& panel) {
  const auto segments = segments_of(shown.trace);
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const auto [first, count] = segments[s];
    const Box box = line.box(first, first + count - 1, y, height);
    const bool is_selected = static_cast<Index>(s) == shown.segment;
    const bool is_later = static_cast<Index>(s) > shown.segment;
    const Colour fill = is_selected ? slot_colour(KeyKind::Token)
                        : is_later  ? page.theme().background
                                    : blend(page.theme().background, page.theme().line, 0.6);
    page.add(FilledBox{box, fill});
    page.add(OutlinedBox{box, page.theme().line, 1});
    const std::string label = page.fitting({"segment " + std::to_string(s), std::to_string(s), ""},
                                           page.small(), box.width - 0.4 * page.em());
    page.add(Text{{box.x + box.width / 2, box.y + box.height / 2},
                  label,
                  is_later ? page.theme().faint_text : ink_on(fill),
                  page.small(),
                  Align::Middle,
                  0,
                  is_selected});
    panel.segments.push_back(box);
  }
}

void draw_remembered_rows(Page& page, const TokenLine& line, double y, double height,
                          const ShownMemory& shown) {
  for (std::size_t c = 0; c < shown.sources.size(); ++c) {
    const RowSource& source = shown.sources[c];
    if (source.first < 0) continue;
    const KeyKind kind = shown.kind_of(static_cast<Index>(c));
    const Box whole = line.box(source.first, source.last(), y, height);
    const double gap = kind == KeyKind::Compressed && whole.width > 3 ? 1 : 0;
    for (Index at = source.first; at <= source.last(); at += source.step) {
      const Index last = source.step == 1 ? source.last() : at;
      const Box box = line.box(at, last, y, height);
      page.add(
          FilledBox{{box.x, box.y, std::max(box.width - gap, 1.0), box.height}, slot_colour(kind)});
      if (source.step == 1) break;
    }
  }
}

void draw_layers(Page& page, const TokenLine& line, double y, double row, const ShownMemory& shown,
                 const std::vector<Index>& oldest, double left) {
  const double em = page.em();
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(1.1 * page.small() / row)));
  for (std::size_t n = 0; n < oldest.size(); ++n) {
    const double top = y + static_cast<double>(n) * row;
    const Box bar =
        line.box(oldest[n], shown.last_token(), top + kBarGap * row, row * (1 - 2 * kBarGap));
    const bool marked = static_cast<Index>(n) == shown.tap.address.layer;
    page.add(FilledBox{bar, translucent(page.theme().accent, marked ? 0.75 : 0.4)});
    if (n % every != 0) continue;
    page.faint_text({left - 0.5 * em, top + row / 2}, "layer " + std::to_string(n), page.small(),
                    Align::End);
    const Index back = shown.last_token() - oldest[n];
    const std::string text = std::to_string(back) + " back";
    const double width = page.width_of(text, page.small());
    if (row < 1.1 * page.small()) continue;
    const bool inside = bar.width > width + em;
    if (!inside && bar.x - 0.4 * em - width < line.x) continue;
    const Point at{inside ? bar.x + 0.4 * em : bar.x - 0.4 * em, bar.y + bar.height / 2};
    page.text(at, text, page.small(), inside ? Align::Start : Align::End);
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

}  // namespace

double range_height(const Page& page, const ShownMemory& shown) {
  const auto layers = static_cast<double>(shown.trace.layer_count({.segment = shown.segment}));
  return panel_title_height(page) + (2 * kRow + 0.3 + layers * kRow + kAxis + 0.6) * page.em();
}

RangePanel draw_range(Page& page, const Box& box, const ShownMemory& shown,
                      const std::vector<Index>& oldest) {
  const double em = page.em();
  draw_panel_title(page, box,
                   {"Receptive field of the last token of segment " +
                        std::to_string(shown.segment) + ", by layer",
                    "Receptive field by layer", "Range"});
  const std::string held = "held";
  double label = page.width_of(held, page.small());
  for (const std::size_t n : {std::size_t{0}, oldest.size() - 1}) {
    label = std::max(label, page.width_of("layer " + std::to_string(n), page.small()));
  }
  const double left = box.x + label + 0.6 * em;
  const TokenLine line{left, box.right() - left - 1.2 * em,
                       static_cast<double>(shown.trace.tokens.size())};
  const double y = box.y + panel_title_height(page);
  const double space = box.bottom() - y - (kAxis + 0.3) * em;
  const auto layer_count = static_cast<double>(oldest.size());
  const double strip =
      std::min(kMaxRow * em, std::max(space / (layer_count + 2), std::min(kRow * em, space / 4)));
  const double row = std::min(kMaxRow * em, (space - 2 * strip) / layer_count);
  RangePanel panel;
  if (row < kMinRow * em || line.width < 8 * em) return panel;
  const double layers = y + 2 * strip + 0.3 * em;
  const double bottom = layers + row * static_cast<double>(oldest.size());
  draw_token_numbers(page, line, y + strip, bottom);
  draw_segments(page, line, y, strip, shown, panel);
  draw_remembered_rows(page, line, y + strip + 0.15 * em, strip - 0.15 * em, shown);
  page.faint_text({left - 0.5 * em, y + 1.5 * strip}, held, page.small(), Align::End);
  draw_layers(page, line, layers, row, shown, oldest, left);
  panel.strip = {line.x, y, line.width, strip};
  return panel;
}

namespace {

constexpr Index kMaxPoints = 96;  // of a curve

struct CostCurves {
  std::vector<Point> all, segments;
  Index max_length = 1;
  double unit = 1;
  std::string unit_name;            // "thousand "
  std::vector<std::string> titles;  // of the products axis, with units
};

CostCurves cost_curves(const ShownMemory& shown) {
  const auto length = static_cast<Index>(shown.trace.tokens.size());
  const Index segment = shown.trace.config->segment;
  CostCurves curves;
  curves.max_length = 2 * std::max(length, segment);
  const double most = causal_pair_count(curves.max_length);
  curves.unit = most >= 2e6 ? 1e6 : most >= 2e4 ? 1e3 : 1;
  curves.titles = {"products q·k", "products", ""};
  if (curves.unit > 1) {
    const bool millions = curves.unit > 1e3;
    const std::string name = millions ? "million" : "thousand";
    curves.unit_name = name + " ";
    curves.titles = {name + " products q·k", name + " products", millions ? "millions" : "× 1000"};
  }
  const Index step = std::max<Index>(1, curves.max_length / kMaxPoints);
  for (Index at = 0; at <= curves.max_length; at += step) {
    const auto x = static_cast<double>(at);
    curves.all.push_back({x, causal_pair_count(at) / curves.unit});
    curves.segments.push_back({x, pairs_in_segments(shown.tap.variant, segment, at) / curves.unit});
  }
  return curves;
}

}  // namespace

void draw_cost(Page& page, const Box& box, const ShownMemory& shown) {
  constexpr double kTitled = 14;  // em: charts of this height have an axis title
  const double em = page.em();
  const CostCurves curves = cost_curves(shown);
  draw_panel_title(
      page, box,
      {"Cost per head by text length: " + curves.unit_name + "products q·k by tokens",
       "Cost of a head: " + curves.unit_name + "products by tokens",
       "Cost: " + curves.unit_name + "products by tokens", "Cost against length", "Cost"});
  const auto length = static_cast<Index>(shown.trace.tokens.size());
  const double own = pairs_in_segments(shown.tap.variant, shown.trace.config->segment, length);
  const Colour of_all = page.theme().faint_text, of_segments = page.theme().accent;
  const std::string all_at_once = grouped(std::llround(causal_pair_count(length)));
  const std::string in_segments = grouped(std::llround(own));
  const auto entries_of = [&](const std::string& at_once, const std::string& segments) {
    return std::vector<LegendEntry>{{of_all, at_once + all_at_once, false, true},
                                    {of_segments, segments + in_segments, false, true}};
  };
  std::vector<LegendEntry> entries = entries_of("whole text: ", "in segments: ");
  const double line = legend_height(page, {entries.front()}, box.width);
  if (legend_height(page, entries, box.width) > line) entries = entries_of("whole: ", "segments: ");
  // The legend is above the chart, where it covers no curve.
  const double legend = legend_height(page, entries, box.width);
  double y = box.y + panel_title_height(page);
  draw_legend(page, entries, {box.x, y, box.width, legend});
  y += legend;
  ChartAxis tokens{
      .least = 0, .most = static_cast<double>(curves.max_length), .titles = {}, .whole = true};
  ChartAxis products{.least = 0, .most = 1.05 * curves.all.back().y, .titles = {}};
  if (box.height >= kTitled * em) {
    tokens.titles = {"tokens of text (line: this text)", "tokens of text", "tokens"};
    products.titles = curves.titles;
  }
  const Chart chart = place_chart(page, {box.x, y, box.width, box.bottom() - y}, std::move(tokens),
                                  std::move(products));
  if (chart.empty()) return;
  draw_chart(page, chart);
  draw_curve(page, chart, curves.all, translucent(of_all, 0.6), 4);
  draw_curve(page, chart, curves.segments, of_segments, 2.5);
  const double x = chart.at_x(static_cast<double>(length));
  page.add(
      Line{{{x, chart.plot.y}, {x, chart.plot.bottom()}}, translucent(page.theme().text, 0.5), 1});
  if (const std::optional<Point>& p = page.input().interaction.pointer;
      p && chart.plot.contains(*p)) {
    const double at = std::round(chart.value_x(p->x));
    const auto tokens = static_cast<Index>(at);
    const double pairs = pairs_in_segments(shown.tap.variant, shown.trace.config->segment, tokens);
    draw_value(page, chart, {at, pairs / curves.unit},
               grouped(tokens) + " tokens: " + grouped(std::llround(pairs)) + " of " +
                   grouped(std::llround(causal_pair_count(tokens))));
  }
}

}  // namespace attnscope
