// Map view: attention weights of one head, or aggregated over several.
#include <algorithm>
#include <cmath>

#include "core/analysis/sentences.h"
#include "core/base/error.h"
#include "core/experiment/head_table.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/export/view_data.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/first_token.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/pinned.h"
#include "core/view/parts/range.h"
#include "core/view/parts/weight_text.h"
#include "core/view/parts/word_merging.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kBarGap = 0.6;     // em between the map and a colour bar below it
constexpr double kMinLevelBar = 8;  // em: shorter bars have no space for numbers

// Fully visible rows (or columns) of the matrix: [first, last).
struct Cells {
  Index first, last;
};
Cells visible_cells(double first, double extent, Index count) {
  const auto clamped = [count](double v) {
    return static_cast<Index>(std::clamp(v, 0.0, static_cast<double>(count)));
  };
  return {clamped(std::floor(first)), clamped(std::ceil(first + extent))};
}

// Draws the weights as numbers if cells are large enough. Leaves out excluded pairs and numbers
// that would be shown as zero.
void draw_numbers(Page& page, const MatrixPlot& grid, const AttentionTap& tap, Index head,
                  const MapMatrix& matrix, const ShownCells& region, const ColourRange& range) {
  constexpr double kMinWidth = 3.0, kMinHeight = 1.35;  // of a cell, in units of the font size
  const double cell_width = grid.plot.width / grid.width,
               cell_height = grid.plot.height / grid.height;
  const double width = kMinWidth * page.width_of(weight_text(range.most, range.most), page.em()) /
                       page.width_of("0.00", page.em());
  const double size = std::min({cell_width / width, cell_height / kMinHeight, page.em()});
  if (size < 0.7 * page.em() || !page.is_legible(size) || region.step != 1) return;
  const Tensor values = matrix.is_complete ? matrix.on_host() : region.values;
  const ColourMap& colours = colour_map(range.colour_map);
  const Cells rows = visible_cells(grid.row, grid.height, tap.queries());
  const Cells columns = visible_cells(grid.column, grid.width, tap.keys());
  const Index pattern_head = tap.result.pattern->heads() > 1 ? head : 0;
  page.add(Clip{grid.plot});
  for (Index i = rows.first; i < rows.last; ++i) {
    for (Index k = columns.first; k < columns.last; ++k) {
      const double value = values(i - region.row, k - region.column);
      const bool is_allowed = value != 0 || tap.result.pattern->allowed(pattern_head, i, k);
      if (!is_allowed || std::isnan(value)) continue;
      const std::string number = weight_text(value, range.most);
      if (number.empty()) continue;
      const Colour cell = colours.at(range.position(value));
      page.add(Text{{grid.plot.x + (static_cast<double>(k) + 0.5 - grid.column) * cell_width,
                     grid.plot.y + (static_cast<double>(i) + 0.5 - grid.row) * cell_height},
                    number,
                    ink_on(cell),
                    size,
                    Align::Middle});
    }
  }
  page.add(Clip{});
}

// Colour range: explicit limits, or limits derived from the visible cells.
ColourRange map_colour_range(const ViewInput& input, const HeatMap& cells, const MapMatrix& matrix,
                             const AttentionTap& tap, Index head, const ShownCells& region) {
  const Values options = view_values(input.session.view, "map");
  const bool has_upper_end = options.has("most");
  const bool is_fixed = has_upper_end || matrix.row_scale == RowScale::Largest;
  ColourRange range = is_fixed ? weight_colours(input, matrix.is_signed)
                               : colour_range(input, cells, tap, head, matrix.is_signed, region);
  const bool is_diverging = colour_map(range.colour_map).diverging();
  if (has_upper_end) range.most = options.real("most");
  // Reading values on a device would download them.
  if (has_upper_end && !cells.device) range.passed = largest_visible_magnitude(cells) > range.most;
  range.least = is_diverging ? -range.most : 0;
  range.smallest = kLogSpan * range.most;
  if (options.has("least")) {
    const double least = options.real("least");
    if (!(least < range.most)) {
      throw InputError("view map.least: expected less than the highest, " + brief(range.most, 4) +
                       ", found " + brief(least, 4));
    }
    if (!is_diverging) range.least = least;
    if (least > 0) range.smallest = least;
  }
  range.scale = scale_of(options);
  return range;
}

// Sets the values and limits of `cells` for the scale of `range`.
void set_numbers(const ViewInput& input, MapMatrix& matrix, ColourRange& range, HeatMap& cells) {
  if (range.scale == ColourRange::Scale::Linear) {
    cells.least = range.least;
    cells.most = range.most;
    return;
  }
  const bool is_diverging = colour_map(range.colour_map).diverging();
  if (!matrix.is_complete) {  // ranks refer to the visible cells
    if (range.scale == ColourRange::Scale::Rank) range.ranked = sampled_ranks(cells.values);
    cells.values = scaled(cells.values, range).numbers;
    cells.least = is_diverging ? -1 : 0;
    cells.most = 1;
    return;
  }
  CacheKey key = matrix.key.with("rank");
  if (range.scale == ColourRange::Scale::Rank) {
    const Tensor ranks = cached_matrix(input, key.with("all"), [&] {
      const std::vector<float> list = sampled_ranks(matrix.on_host());
      return Tensor::from({static_cast<Index>(list.size())}, list);
    });
    range.ranked.assign(ranks.begin(), ranks.end());
  } else {
    key = matrix.key.with("log", range.smallest, range.most);
  }
  key.add(range.colour_map);
  cells.device = nullptr;
  cells.plane = 0;
  cells.values = cached_matrix(input, key, [&] { return scaled(matrix.on_host(), range).numbers; });
  cells.least = is_diverging ? -1 : 0;
  cells.most = 1;
}

std::vector<std::string> bar_titles(const ColourRange& range, const std::string& unit) {
  if (range.scale == ColourRange::Scale::Log) return {unit + " (log)", "weight (log)", "log"};
  if (range.scale == ColourRange::Scale::Rank) return {unit + " by rank", "by rank", "rank"};
  return {unit, "weight"};
}

std::string title_of(const ViewInput& input, const MapMatrix& matrix) {
  return matrix.is_one_head ? title_with_head(input)
                            : picture_title(input.trace, input.part()) + " · " + matrix.caption;
}

// Notes on low contrast and how to improve it; empty if contrast is sufficient. Judges the median
// row, because a dim map can have a few bright rows, such as the first row of a causal map.
std::vector<std::string> low_contrast_notes(const ViewInput& input, const HeatMap& cells,
                                            const ColourRange& range) {
  constexpr double kDim = 0.1;          // threshold relative to the colour range
  constexpr Index kMaxCells = 1 << 21;  // limit of cells to inspect per picture
  const bool has_upper_end = view_values(input.session.view, "map").has("most");
  const bool is_clipped = input.session.view.colour_end == ColourEnd::Percentile;
  // Reading values on a device would download them.
  if (range.scale != ColourRange::Scale::Linear || cells.device) return {};
  if (is_clipped && !has_upper_end) return {};
  const std::vector<float> row_maxima = visible_row_maxima(cells, kMaxCells);
  if (row_maxima.empty() || !(row_maxima.back() > 0)) return {};
  const auto typical = static_cast<double>(row_maxima[row_maxima.size() / 2]);
  if (!(typical < kDim * range.most)) return {};
  const std::string text = "Half of the rows have no weight above " + brief(typical, 2);
  if (has_upper_end)
    return {text + ": lower “To”, or use the log scale", text + ": lower “To”", text};
  const std::string remedy = input.interaction.key_of
                                 ? input.interaction.key_of(HintAction::ColourRange)
                                 : "--colours percentile";
  return {text + ": clip at the 99th percentile (" + remedy + "), or use another scale",
          text + ": clip at 99th percentile (" + remedy + ")", text};
}

// Notes on a bright column of the first token, longest first; empty if it is no attention sink.
std::vector<std::string> sink_notes(const ViewInput& input, const AttentionTap& tap, Index head,
                                    const MapMatrix& matrix) {
  const bool shows_weights = matrix.is_one_head && matrix.row_scale == RowScale::None &&
                             !view_values(input.session.view, "map").flag("hide_first");
  if (!shows_weights) return {};
  const std::optional<FirstTokenShare> first = first_token_share(tap, head);
  if (!first || !first->is_sink()) return {};
  const std::string label =
      key_axis(input.trace, tap).labels[static_cast<std::size_t>(first_token_column(tap))];
  const std::string share = "“" + label + "” gets " + percent(first->share) + " of the weight";
  const std::string token = has_merged_words(input.trace) ? "first word" : "first token";
  return {share + " (at equal attention " + percent(first->equal) + "): the " + token +
              " as attention sink",
          "“" + label + "”, the " + token + ", gets " + percent(first->share) +
              " of the weight: an attention sink",
          share + ": an attention sink", "“" + label + "”: attention sink"};
}

// Notes on the colours for the line below the map, longest first.
std::vector<std::string> notes_of(const ViewInput& input, const MatrixPlot& grid,
                                  const HeatMap& cells, const ColourRange& range,
                                  std::vector<std::string> sinks) {
  std::vector<std::string> notes = low_contrast_notes(input, cells, range);
  if (notes.empty()) notes = std::move(sinks);
  if (!grid.pooled()) return notes;
  if (notes.empty()) return {"max-pooled: each pixel shows its largest", "max-pooled"};
  notes.insert(notes.begin(), notes.front() + "; max-pooled");
  return notes;
}

// Labels the hovered pair of a framed picture with its weight, which the window shows in a panel.
void draw_pair_label(Page& page, const MatrixPlot& grid, const AttentionTap& tap, Index head,
                     const MapMatrix& matrix) {
  if (grid.hovered_row < 0 || grid.hovered_column < 0) return;
  const auto weight = static_cast<double>(
      matrix.is_one_head ? attention_row(tap, head, grid.hovered_row)[grid.hovered_column]
                         : matrix.values(grid.hovered_row, grid.hovered_column));
  page.tag(*page.input().interaction.pointer, brief(weight, 3), grid.plot);
}

// Adds the displayed value to hits if it is not the weight of the selected head.
void add_values_to_hits(ViewLayout& layout, const MapMatrix& matrix) {
  if (!matrix.is_complete || (matrix.is_one_head && matrix.row_scale == RowScale::None)) return;
  const std::string unit =
      matrix.row_scale == RowScale::None ? "" : " " + unit_of(matrix.row_scale);
  layout.hit = [hit_test = layout.hit, values = matrix.values, unit](Point p) {
    std::optional<Hit> hit = hit_test(p);
    if (hit) hit->shown = brief(static_cast<double>(values(hit->query, hit->key)), 4) + unit;
    return hit;
  };
}

// The map, with the colour bar to its right, or below it on narrow pages.
struct Placement {
  MatrixPlot matrix;
  bool is_bar_below;
};
Placement place(const Page& page, const Box& inside, const AttentionTap& tap, double right_width) {
  constexpr double kMinGain = 1.3;  // minimum gain of map width by a bar below
  MatrixPlot with_side_bar = place_matrix(page, inside, tap, right_width + colour_bar_width(page));
  Box above = inside;
  above.height -= kBarGap * page.em() + horizontal_colour_bar_height(page);
  MatrixPlot with_lower_bar = place_matrix(page, above, tap, right_width);
  if (with_lower_bar.plot.width < kMinGain * with_side_bar.plot.width ||
      with_lower_bar.plot.width < kMinLevelBar * page.em()) {
    return {std::move(with_side_bar), false};
  }
  return {std::move(with_lower_bar), true};
}

// Bars of the pinned query and key, and the map next to them.
struct PinnedPlacement {
  Index row = -1, column = -1;  // pins with bars
  Placement placement;
};

// Omits bars that would shrink the map below kMinMapSide. Pictures whose size follows their content
// keep all bars.
PinnedPlacement place_with_pins(const Page& page, const Box& inside, const AttentionTap& tap,
                                Index row, Index column) {
  constexpr double kMinGain = 1.03;  // minimum gain by omitting bars
  const FigureOptions& figure = page.input().figure;
  std::optional<PinnedPlacement> best;
  double best_side = 0;
  for (const auto& [shows_row, shows_column] :
       {std::pair{true, true}, {false, true}, {true, false}, {false, false}}) {
    PinnedPlacement pins{shows_row ? row : -1, shows_column ? column : -1, {}};
    Box map = inside;
    map.height -= pinned_row_height(page, pins.row);
    pins.placement = place(page, map, tap, pinned_column_width(page, pins.column));
    const Box& plot = pins.placement.matrix.plot;
    const double side = std::min(plot.width, plot.height);
    if (!best || side > kMinGain * best_side) {
      best = std::move(pins);
      best_side = side;
    }
    if (best_side >= kMinMapSide || (figure.framed && figure.tight)) break;
  }
  return std::move(*best);
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap selected = find_tap(input);
  if (selected.tap == nullptr) return page.message(selected.headline, selected.advice);
  const AttentionTap& tap = *selected.tap;
  MapMatrix matrix = map_matrix(input, tap, selected.head);
  if (!matrix.headline.empty()) return page.message(matrix.headline, matrix.advice);
  const ViewSettings& settings = input.session.view;
  const Box inside =
      page.frame(title_of(input, matrix), caption(input.trace, matrix.caption + "."));
  const auto pinned = [&](Index i, Index count) {
    return matrix.is_complete && i < count ? i : -1;
  };
  const auto [pinned_row, pinned_column, placement] =
      place_with_pins(page, inside, tap, pinned(settings.pinned_query, tap.queries()),
                      pinned(settings.pinned_key, tap.keys()));
  const auto& [grid, is_bar_below] = placement;
  if (!(grid.plot.width > 0)) return no_space(page);

  HeatMap cells = matrix_cells(grid);
  ShownCells region;
  if (matrix.is_complete) {
    cells.values = region.values = matrix.values;
    cells.device = matrix.device;
    cells.plane = matrix.plane;
  } else {
    region = set_cells(cells, input, tap, selected.head);
    if (view_values(settings, "map").flag("hide_first")) {
      hide_column(region.values, first_token_column(tap), region);
      cells.values = region.values;
    }
    if (matrix.row_scale != RowScale::None) {
      cells.values = region.values =
          row_scaled(region.values, matrix.row_scale, tap, selected.head, region);
    }
  }
  cells.missing = blend(input.canvas.theme.background, input.canvas.theme.line, 0.5);
  ColourRange range = map_colour_range(input, cells, matrix, tap, selected.head, region);
  cells.colour_map = range.colour_map;
  set_numbers(input, matrix, range, cells);
  const std::vector<std::string> notes =
      notes_of(input, grid, cells, range, sink_notes(input, tap, selected.head, matrix));
  page.add(cells);
  const bool has_excluded =
      matrix.is_one_head
          ? cover_excluded(page, matrix_cells(grid), tap, selected.head)
          : cover_excluded(page, matrix_cells(grid), tap, selected.head, matrix.values);
  draw_numbers(page, grid, tap, selected.head, matrix, region, range);
  draw_matrix_frame(page, grid, {});
  double bottom = grid.plot.bottom();
  if (!notes.empty()) {
    page.faint_text({grid.plot.x, grid.note_y}, page.fitting(notes, page.small(), grid.plot.width),
                    page.small());
    bottom = grid.note_y + 0.7 * page.em();
  }
  if (pinned_row >= 0 || pinned_column >= 0) {
    MatrixPlot pins = grid;
    pins.pinned_row = pinned_row;
    pins.pinned_column = pinned_column;
    bottom = draw_pinned(page, pins, matrix.on_host(), bottom);
  }
  const double inset = pinned_column_width(page, pinned_column);
  if (is_bar_below) {
    draw_horizontal_colour_bar(page, {grid.plot.x, bottom + kBarGap * page.em()}, grid.plot.width,
                               range, bar_titles(range, matrix.unit));
    bottom += kBarGap * page.em() + horizontal_colour_bar_height(page);
  } else {
    draw_colour_bar(
        page, {grid.right.x + inset, grid.right.y, grid.right.width - inset, grid.right.height},
        range, bar_titles(range, matrix.unit));
  }
  if (has_excluded && !is_bar_below) {
    draw_excluded_legend(page, grid.right.x + inset + page.em(), grid.note_y);
    bottom = std::max(bottom, grid.note_y + 0.7 * page.em());
  }
  if (input.figure.framed) draw_pair_label(page, grid, tap, selected.head, matrix);
  ViewLayout layout = matrix_layout(page, grid, bottom);
  add_values_to_hits(layout, matrix);
  layout.pending = pending_text(region.exact);
  return layout;
}

ViewData data(const ViewInput& input) {
  const SelectedTap selected = require_tap(input);
  const MapMatrix matrix = map_matrix(input, *selected.tap, selected.head);
  if (!matrix.headline.empty()) throw InputError(matrix.headline + ". " + matrix.advice);
  if (!matrix.is_complete) return {{head_weights(input, *selected.tap, selected.head, true)}};
  return {{{"attention", matrix.on_host(), query_axis(input.trace, *selected.tap).labels,
            key_axis(input.trace, *selected.tap).labels}}};
}

void restrict_controls(const ViewSettings& settings, const Trace*, ViewControls& controls) {
  const Values values = view_values(settings, "map");
  const std::string& scale = values.choice("scale");
  if (values.has("most") || scale == "rank" || scale == "row") controls.colour_ends.clear();
}

// Weights within and between two sentences; empty for a single sentence.
std::string describe_blocks(const Trace& trace, const HeadRef& ref, bool hides_special) {
  const std::optional<BlockWeights> shares = block_weights(trace, ref, hides_special);
  if (!shares) return "";
  const auto percentage = [&](int from, int to) { return percent(shares->weights[from][to]); };
  return "This head's weight: the first sentence gives " + percentage(0, 0) + " to itself and " +
         percentage(0, 1) + " to the second; the second gives " + percentage(1, 1) +
         " to itself and " + percentage(1, 0) + " to the first" +
         (hides_special ? "; the rest goes to special tokens." : ".");
}

// Cosine similarity of two jointly encoded sentences; empty for a single sentence.
std::string describe_similarity(const Trace& trace) {
  if (!has_two_sentences(trace)) return "";
  const auto vector = [&](int sentence) {
    return sentence_vector(trace, SentenceVector::Mean, sentence);
  };
  const double cosine = cosine_similarity(vector(0), vector(1));
  if (std::isnan(cosine)) return "";
  return "The sentences' mean vectors after the last layer have cosine similarity " +
         brief(cosine) +
         ". The sentences were encoded jointly; to encode them separately, set one as B in "
         "Compare.";
}

// Weight of the first token in the selected head; empty if it is no attention sink.
std::string describe_sink(const Trace& trace, const ViewSettings& settings) {
  Index head = 0;
  const AttentionTap* tap = trace.find(head_ref(trace, settings), &head);
  const auto first = tap != nullptr ? first_token_share(*tap, head) : std::nullopt;
  if (!first || !first->is_sink()) return "";
  return "later tokens give the first one " + percent(first->share) + " of their weight here, " +
         percent(first->equal) +
         " at equal attention. A head that finds nothing else attends to it.";
}

ViewReading map_reading(const ViewSettings& settings, const Trace* trace) {
  const Values values = view_values(settings, "map");
  ViewReading reading{
      "Each row is a query token, each column a key token. A bright cell: the query attends "
      "strongly to the key. The weights of a row sum to 1; grey pairs are not allowed.",
      {}};
  const bool has_sinks =
      trace != nullptr && std::ranges::any_of(trace->attention, [](const auto& tap) {
        return tap.settings() != nullptr && tap.settings()->sinks.defined();
      });
  if (has_sinks) {
    reading.terms.push_back({"Sink",
                             "a learned score per head that takes part in the softmax without a "
                             "value: rows sum to 1 minus its weight."});
  }
  if (row_scale_of(values) == RowScale::EqualShare) {
    reading.terms.push_back({"Equal share",
                             "the weight of each key if the query attended to all of its keys "
                             "equally; 3 is three times that."});
  }
  const auto add = [&](const char* term, const std::string& meaning) {
    if (!meaning.empty()) reading.terms.push_back({term, meaning});
  };
  if (trace != nullptr) {
    const bool is_one_head = values.choice("source") == "head";
    const bool hides_special = settings.hides_special && special_refusal(*trace).empty();
    add("Two sentences",
        is_one_head ? describe_blocks(*trace, head_ref(*trace, settings), hides_special) : "");
    add("Similarity", describe_similarity(*trace));
  }
  if (trace != nullptr && values.choice("source") == "head") {
    add("Attention sink", describe_sink(*trace, settings));
  }
  if (values.choice("source") == "rollout") {
    reading.terms.push_back({"Rollout",
                             "share of each input token that arrives here through all layers so "
                             "far, averaged over heads, with the residual path."});
  }
  return reading;
}

}  // namespace

View map_view() {
  return with_word_merging(
      {.id = "map",
       .label = "Map",
       .group = "Attention",
       .summary = "Attention weights of one head, or aggregated over several: queries by keys.",
       .lay_out = lay_out,
       .reading = map_reading,
       .data = data,
       .findings = {{Findings::maps.id}},
       .options = {.parameters = map_parameters(), .restrict_controls = restrict_controls},
       .content = {.objection = objection_without_attention},
       .cells = {.zoom = true}});
}

}  // namespace attnscope
