#include "core/view/parts/token_axis.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/words.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kLabelHeight = 1.1;     // em, minimum distance of labels
constexpr double kAxisTitleDepth = 1.8;  // em
constexpr double kTitleMiddle = 0.7;     // em from the outer edge
constexpr double kBandDepth = 1.5;       // em: a stripe and its name
constexpr double kBandStripe = 0.25;     // em
constexpr double kBandName = 0.55;       // em from the stripe to the middle of its name
constexpr double kAxisGap = 0.45;        // em between plot and labels, with a tick in it
constexpr double kCornerLine = 1.1;      // em from line to line in the corner between axes
constexpr double kLevelGap = 0.5;        // em between horizontal labels
constexpr double kMinVertical = 0.1;     // em, minimum extra depth of vertical labels
constexpr Index kFewLabels = 16;     // more labels are likely thinned, and then show their index
constexpr Index kMaxMeasured = 512;  // labels, evenly sampled

// Label of a column that is not a token of the text.
std::string column_label(KeyKind kind, Index i, Index count) {
  if (kind == KeyKind::Memory) return "−" + std::to_string(count - i);  // relative to text
  return std::string(1, name_of(kind)[0]) + std::to_string(i);
}

// Labels of `count` tokens of a stream, or their indices if the tokens are unknown.
std::vector<std::string> token_labels(const Trace& trace, const StreamRows& rows, Index count) {
  const std::vector<TraceToken>& tokens = trace.tokens_of(rows);
  std::vector<std::string> labels;
  for (Index i = 0; i < count; ++i) {
    const Index token = trace.token_index(rows, count, i);
    labels.push_back(token < 0 ? std::to_string(i) : tokens[static_cast<std::size_t>(token)].label);
  }
  return labels;
}

// "query (from)"; "query (from target)" for encoder-decoder models.
std::vector<std::string> axis_titles(const Trace& trace, const char* role, const char* direction,
                                     const StreamRows& rows) {
  const bool names_stream = trace.parts.stack || trace.parts.kind;
  const std::string stream = !names_stream         ? ""
                             : rows.stream.empty() ? " target"
                                                   : " " + rows.stream;
  const std::string name = role + std::string(has_merged_words(trace) ? " word" : "");
  return {name + " (" + direction + stream + ")", name, role};
}

TokenAxis::Widest widest_of(const Page& page, const TokenAxis& axis) {
  const Index step = 1 + axis.count() / kMaxMeasured;
  double label = page.em(), whole = 0;
  for (Index i = 0; i < axis.count(); i += step) {
    const std::string& text = axis.labels[static_cast<std::size_t>(i)];
    label = std::max(label, page.width_of(text, page.em()));
    whole = std::max(whole, page.width_of(std::to_string(i) + " " + text, page.em()));
  }
  const bool numbers = axis.count() > 0 && axis.labels.back() == std::to_string(axis.count() - 1);
  if (numbers) return {label, label};
  // "22 home" may be wider than "24 " and "home", because of its digits and of kerning.
  const double index = page.width_of(std::to_string(axis.count()) + " ", page.em());
  return {label, std::max(label + index, whole)};
}

// Width of the widest label, up to `max_width`; with its index if labels are thinned out.
double label_width(const Page& page, const TokenAxis& axis, bool is_thinned, double max_width) {
  if (!page.has_tokens()) return 0;
  const TokenAxis::Widest widest = axis.widest ? *axis.widest : widest_of(page, axis);
  return std::min(is_thinned ? widest.with_index : widest.label, max_width);
}

double cell_size(const TokenAxis& axis, double length) {
  return length / static_cast<double>(std::max<Index>(1, axis.count()));
}

// True if only some cells of this size are labelled.
bool thins_out(const Page& page, double cell) {
  return label_step(cell, kLabelHeight * page.em()) > 1;
}

double side_depth(const Page& page, const TokenAxis& axis) {
  return ((axis.titles.empty() ? 0 : kAxisTitleDepth) + kAxisGap +
          (axis.bands.empty() ? 0 : kBandDepth)) *
         page.em();
}

std::string label_at(const TokenAxis& axis, Index i, Index step) {
  const std::string& label = axis.labels[static_cast<std::size_t>(i)];
  return step > 1 && label != std::to_string(i) ? std::to_string(i) + " " + label : label;
}

bool is_cell_visible(const AxisPlace& place, Index i) {
  const double centre = place.centre(i);
  return i >= 0 && centre >= place.from && centre <= place.from + place.length;
}

// Visible cells with a label, except neighbours that overlap the marked cell's label.
std::vector<Index> labelled_cells(const Page& page, const TokenAxis& axis, const AxisPlace& place,
                                  Index step, double label_height, Index marked) {
  std::vector<Index> cells;
  if (!page.has_tokens()) return cells;
  const auto first = static_cast<Index>(std::max(0.0, std::ceil(place.first - 0.5)));
  for (Index i = (first + step - 1) / step * step; i < axis.count(); i += step) {
    if (place.centre(i) > place.from + place.length) break;
    const double distance = std::abs(place.centre(i) - place.centre(marked));
    if (is_cell_visible(place, marked) && distance < label_height) continue;
    cells.push_back(i);
  }
  return cells;
}

// Visible part of a band, in pixels along the axis.
std::pair<double, double> band_span(const ColumnBand& band, const AxisPlace& place) {
  const auto pixel = [&](Index cell) {
    return std::clamp(place.from + (static_cast<double>(cell) - place.first) * place.cell(),
                      place.from, place.from + place.length);
  };
  return {pixel(band.first), pixel(band.first + band.count)};
}

}  // namespace

const char* name_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::Token:
      return "tokens";
    case KeyKind::Memory:
      return "memory";
    case KeyKind::Compressed:
      return "compressed";
    case KeyKind::Projected:
      return "projected";
    case KeyKind::Slot:
      return "slots";
  }
  return "";
}

namespace {

// Bands of a pair's two sentences, whose cells start at index `first`; empty for one sentence.
std::vector<ColumnBand> sentence_bands(const Trace& trace, const StreamRows& rows, Index first,
                                       Index count) {
  const std::vector<TraceToken>& tokens = trace.tokens_of(rows);
  std::vector<ColumnBand> bands;
  bool has_second = false;
  for (Index i = 0; i < count; ++i) {
    const Index token = trace.token_index(rows, count, i);
    if (token < 0) return {};
    const bool is_second = tokens[static_cast<std::size_t>(token)].sentence > 0;
    has_second |= is_second;
    const std::string name = is_second ? "second" : "first";
    if (bands.empty() || bands.back().name != name) bands.push_back({first + i, 0, name});
    ++bands.back().count;
  }
  return has_second ? bands : std::vector<ColumnBand>();
}

}  // namespace

TokenAxis query_axis(const Trace& trace, const AttentionTap& tap) {
  return {axis_titles(trace, "query", "from", tap.query_rows),
          token_labels(trace, tap.query_rows, tap.queries()),
          sentence_bands(trace, tap.query_rows, 0, tap.queries())};
}

TokenAxis key_axis(const Trace& trace, const AttentionTap& tap) {
  TokenAxis axis{axis_titles(trace, "key", "to", tap.key_rows), {}, {}};
  if (tap.result.columns.empty()) {
    axis.labels = token_labels(trace, tap.key_rows, tap.keys());
    axis.bands = sentence_bands(trace, tap.key_rows, 0, tap.keys());
    return axis;
  }
  for (const auto& [kind, count] : tap.result.columns) {
    const Index first = axis.count();
    if (kind == KeyKind::Token) {
      const std::vector<std::string> labels = token_labels(trace, tap.key_rows, count);
      axis.labels.insert(axis.labels.end(), labels.begin(), labels.end());
      for (ColumnBand& band : sentence_bands(trace, tap.key_rows, first, count)) {
        axis.bands.push_back(std::move(band));
      }
    } else {
      for (Index i = 0; i < count; ++i) axis.labels.push_back(column_label(kind, i, count));
      if (count > 0) axis.bands.push_back({first, count, name_of(kind)});
    }
  }
  return axis;
}

TokenAxis measured(const Page& page, TokenAxis axis) {
  axis.widest = widest_of(page, axis);
  return axis;
}

double axis_titles_width(const Page& page) {
  return page.width_of("query ↓", page.small()) + kAxisGap * page.em() + 1;
}

namespace {

// Draws the first title that fits before `right`.
void draw_corner_title(Page& page, Point right, double left_end,
                       const std::vector<std::string>& titles) {
  page.faint_text(right, page.fitting(titles, page.small(), right.x - left_end), page.small(),
                  Align::End);
}

}  // namespace

void draw_key_title(Page& page, Point corner, double left_end) {
  const double em = page.em();
  draw_corner_title(page, {corner.x - kAxisGap * em, corner.y - kCornerLine * em}, left_end,
                    {"key (to) →", "key →"});
}

void draw_axis_titles(Page& page, Point corner, double left_end) {
  const double em = page.em(), line = kCornerLine * em;
  draw_corner_title(page, {corner.x - kAxisGap * em, corner.y - line}, left_end,
                    {"query (from) ↓", "query ↓"});
  draw_key_title(page, {corner.x, corner.y - line}, left_end);
}

Index label_step(double cell, double label_height) {
  constexpr Index kMaxStep = 1'000'000'000;
  for (Index power = 1; power < kMaxStep; power *= 10) {
    for (const Index factor : {1, 2, 5}) {
      if (static_cast<double>(factor * power) * cell >= label_height) return factor * power;
    }
  }
  return kMaxStep;
}

double axis_depth_left(const Page& page, const TokenAxis& axis, double length, double max_labels) {
  const bool is_thinned = thins_out(page, cell_size(axis, length));
  return side_depth(page, axis) + label_width(page, axis, is_thinned, max_labels);
}

double axis_depth_left(const Page& page, const TokenAxis& axis, double max_labels) {
  return side_depth(page, axis) + label_width(page, axis, axis.count() > kFewLabels, max_labels);
}

double axis_depth_top(const Page& page, const TokenAxis& axis, double length, double max_labels) {
  const double em = page.em(), cell = cell_size(axis, length), level_depth = kLabelHeight * em;
  if (!page.has_tokens()) return side_depth(page, axis);
  const bool all_level = label_width(page, axis, false, cell) + kLevelGap * em <= cell;
  const double vertical_depth = label_width(page, axis, thins_out(page, cell), max_labels);
  return side_depth(page, axis) + (all_level ? level_depth : std::max(level_depth, vertical_depth));
}

AxisDepths settled_depths(const Page& page, const TokenAxis& rows, const TokenAxis& columns,
                          const AxisDepths& max_depths,
                          const std::function<PlotSize(const AxisDepths&)>& plot) {
  AxisDepths depths;
  // Deeper axes shrink the plot, which may deepen the axes again. Depths only grow, and have few
  // possible values (labels with and without index), so that the loop ends.
  for (;;) {
    const PlotSize size = plot(depths);
    const AxisDepths next{
        std::max(depths.left, axis_depth_left(page, rows, size.height, max_depths.left)),
        std::max(depths.top, axis_depth_top(page, columns, size.width, max_depths.top))};
    if (next.left == depths.left && next.top == depths.top) return depths;
    depths = next;
  }
}

namespace {

// Draws an axis next to a plot's vertical edge at x = `edge`; `side`: -1 left of it, 1 right.
void draw_axis_beside(Page& page, const TokenAxis& axis, const AxisPlace& place, double edge,
                      double side, double depth, Index marked) {
  const double em = page.em(), bands_depth = axis.bands.empty() ? 0 : kBandDepth * em;
  const double base = edge + side * (bands_depth + kAxisGap * em);
  const Align align = side < 0 ? Align::End : Align::Start;
  const double max_width = depth - side_depth(page, axis);
  const Index step = label_step(place.cell(), kLabelHeight * em);
  for (const Index i : labelled_cells(page, axis, place, step, kLabelHeight * em, marked)) {
    const double y = place.centre(i);
    if (step > 1) {
      page.add(Line{{{base - side * kAxisGap * em * 0.3, y}, {base - side * kAxisGap * em, y}},
                    page.theme().line,
                    1});
    }
    page.text({base, y}, page.ellipsised(label_at(axis, i, step), em, max_width), em, align);
  }
  if (page.has_tokens() && is_cell_visible(place, marked)) {
    const std::string label = page.ellipsised(label_at(axis, marked, step), em, max_width);
    const double width = page.width_of(label, em), y = place.centre(marked);
    // Keys have the same colour in every view.
    const Colour background = side < 0 ? page.theme().accent : key_colour(page.theme());
    page.add(FilledBox{{(side < 0 ? base - width : base) - 0.3 * em, y - kLabelHeight * em / 2,
                        width + 0.6 * em, kLabelHeight * em},
                       background,
                       0.2 * em});
    page.add(Text{{base, y}, label, ink_on(background), em, align});
  }
  for (const ColumnBand& band : axis.bands) {
    const auto [from, to] = band_span(band, place);
    if (to - from < 1) continue;
    const double stripe = kBandStripe * em;
    page.add(
        FilledBox{{side < 0 ? edge - stripe : edge, from, stripe, to - from}, page.theme().accent});
    page.add(Text{{edge + side * (stripe + kBandName * em), (from + to) / 2},
                  page.ellipsised(band.name, page.small(), to - from),
                  page.theme().accent,
                  page.small(),
                  Align::Middle,
                  90});
  }
  if (axis.titles.empty()) return;
  page.faint_text({edge + side * (depth - em * kTitleMiddle), place.from + place.length / 2},
                  page.fitting(axis.titles, em, place.length), em, Align::Middle, 90);
}

}  // namespace

void draw_axis_left(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_left,
                    double depth, Index marked) {
  draw_axis_beside(page, axis, place, plot_left, -1, depth, marked);
}

void draw_axis_right(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_right,
                     double depth, Index marked) {
  draw_axis_beside(page, axis, place, plot_right, 1, depth, marked);
}

namespace {

// Labels above a plot, horizontal or vertical. An axis without the depth for vertical labels has
// horizontal labels at every zoom, as many as fit.
struct LabelsAbove {
  Index step;
  bool level;
  std::vector<Index> cells;
};
LabelsAbove labels_above(const Page& page, const TokenAxis& axis, const AxisPlace& place,
                         double max_depth, Index marked) {
  const double em = page.em(), line_height = kLabelHeight * em;
  const Index step = label_step(place.cell(), line_height);
  std::vector<Index> cells = labelled_cells(page, axis, place, step, line_height, marked);
  const auto fits = [&](Index i) {
    const std::string& label = axis.labels[static_cast<std::size_t>(i)];
    return page.width_of(label, em) + kLevelGap * em <= place.cell();
  };
  const bool level = step == 1 && std::ranges::all_of(cells, fits) &&
                     (!is_cell_visible(place, marked) || fits(marked));
  if (level || max_depth > line_height + kMinVertical * em) return {step, level, std::move(cells)};
  const double min_cell = label_width(page, axis, true, place.length) + kLevelGap * em;
  const Index wider_step = label_step(place.cell(), min_cell);
  return {wider_step, true, labelled_cells(page, axis, place, wider_step, min_cell, marked)};
}

}  // namespace

void draw_axis_top(Page& page, const TokenAxis& axis, const AxisPlace& place, double plot_top,
                   double depth, Index marked) {
  const double em = page.em();
  const double bands_depth = axis.bands.empty() ? 0 : kBandDepth * em;
  const double bottom = plot_top - bands_depth - kAxisGap * em;
  const double max_width = depth - side_depth(page, axis);
  const auto [step, level, cells] = labels_above(page, axis, place, max_width, marked);
  for (const Index i : cells) {
    const double x = place.centre(i);
    if (level) {
      const double over = page.width_of(label_at(axis, i, step), em) / 2 - kAxisGap * em;
      if (x - over < place.from || x + over > place.from + place.length) continue;  // cut off
      page.text({x, bottom - kLabelHeight * em / 2}, label_at(axis, i, step), em, Align::Middle);
      continue;
    }
    if (step > 1) {
      page.add(Line{
          {{x, bottom + kAxisGap * em * 0.3}, {x, bottom + kAxisGap * em}}, page.theme().line, 1});
    }
    page.text({x, bottom}, page.ellipsised(label_at(axis, i, step), em, max_width), em,
              Align::Start, 90);
  }
  if (page.has_tokens() && is_cell_visible(place, marked)) {
    const Colour ground = key_colour(page.theme());
    const double room = level ? std::max(max_width, place.cell()) : max_width;
    const std::string label = page.ellipsised(label_at(axis, marked, step), em, room);
    const double width = page.width_of(label, em), x = place.centre(marked);
    const double across = kLabelHeight * em;
    if (level) {
      page.add(FilledBox{
          {x - width / 2 - 0.3 * em, bottom - across, width + 0.6 * em, across}, ground, 0.2 * em});
      page.add(Text{{x, bottom - across / 2}, label, ink_on(ground), em, Align::Middle});
    } else {
      page.add(FilledBox{
          {x - across / 2, bottom - width - 0.3 * em, across, width + 0.6 * em}, ground, 0.2 * em});
      page.add(Text{{x, bottom}, label, ink_on(ground), em, Align::Start, 90});
    }
  }
  for (const ColumnBand& band : axis.bands) {
    const auto [left, right] = band_span(band, place);
    if (right - left < 1) continue;
    const double stripe = kBandStripe * em, y = plot_top - stripe;
    page.add(FilledBox{{left, y, right - left, stripe}, page.theme().accent});
    const std::string name = page.ellipsised(band.name, page.small(), right - left);
    page.add(Text{{(left + right) / 2, y - kBandName * em},
                  name,
                  page.theme().accent,
                  page.small(),
                  Align::Middle});
  }
  if (axis.titles.empty()) return;
  page.faint_text({place.from + place.length / 2, plot_top - depth + em * kTitleMiddle},
                  page.fitting(axis.titles, em, place.length), em, Align::Middle);
}

}  // namespace attnscope
