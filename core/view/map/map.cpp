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
#include "core/view/parts/focus.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/pinned.h"
#include "core/view/parts/range.h"
#include "core/view/parts/word_merging.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kBarGap = 0.6;     // em above a colour bar below the map
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

// Draws numbers in cells that are large enough; excluded pairs stay empty.
void draw_numbers(Page& page, const MatrixPlot& grid, const AttentionTap& tap, Index head,
                  const MapMatrix& matrix, const ShownCells& seen, const ColourRange& range) {
  constexpr double kLeastWidth = 3.0, kMinHeight = 1.35;  // em of the smallest numbers
  constexpr double kShownAsZero = 0.005;
  const double cell_width = grid.plot.width / grid.width,
               cell_height = grid.plot.height / grid.height;
  const double size = std::min({cell_width / kLeastWidth, cell_height / kMinHeight, page.em()});
  if (size < 0.7 * page.em() || seen.step != 1) return;
  const Tensor values = matrix.whole ? matrix.host() : seen.values;
  const ColourMap& colours = colour_map(range.colour_map);
  const Cells rows = visible_cells(grid.row, grid.height, tap.queries());
  const Cells columns = visible_cells(grid.column, grid.width, tap.keys());
  const Index pattern_head = tap.result.pattern->heads() > 1 ? head : 0;
  page.add(Clip{grid.plot});
  for (Index i = rows.first; i < rows.last; ++i) {
    for (Index c = columns.first; c < columns.last; ++c) {
      const double value = values(i - seen.row, c - seen.column);
      const bool allowed = value != 0 || tap.result.pattern->allowed(pattern_head, i, c);
      if (!allowed || std::isnan(value)) continue;
      const Colour cell = colours.at(range.position(value));
      page.add(Text{{grid.plot.x + (static_cast<double>(c) + 0.5 - grid.column) * cell_width,
                     grid.plot.y + (static_cast<double>(i) + 0.5 - grid.row) * cell_height},
                    fixed(value, 2),
                    translucent(ink_on(cell), std::abs(value) < kShownAsZero ? 0.5 : 1),
                    size,
                    Align::Middle});
    }
  }
  page.add(Clip{});
}

// Colour range: explicit limits, or limits derived from the visible cells.
ColourRange range_of(const ViewInput& input, const HeatMap& cells, const MapMatrix& matrix,
                     const AttentionTap& tap, Index head, const ShownCells& seen) {
  const Values options = view_values(input.session.view, "map");
  const bool has_upper_end = options.has("most");
  const bool is_fixed = has_upper_end || matrix.row_scale == RowScale::Largest;
  ColourRange range = is_fixed ? weight_colours(input, matrix.with_signs)
                               : colour_range(input, cells, tap, head, matrix.with_signs, seen);
  const bool diverging = colour_map(range.colour_map).diverging();
  if (has_upper_end) range.most = options.real("most");
  range.least = diverging ? -range.most : 0;
  range.smallest = kLogSpan * range.most;
  if (options.has("least")) {
    const double least = options.real("least");
    if (!(least < range.most)) {
      throw InputError("view map.least: expected less than the highest, " + brief(range.most, 4) +
                       ", found " + brief(least, 4));
    }
    if (!diverging) range.least = least;
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
  const bool diverging = colour_map(range.colour_map).diverging();
  if (!matrix.whole) {  // ranks refer to the visible cells
    if (range.scale == ColourRange::Scale::Rank) range.ranked = sampled_ranks(cells.values);
    cells.values = scaled(cells.values, range).numbers;
    cells.least = diverging ? -1 : 0;
    cells.most = 1;
    return;
  }
  CacheKey key = matrix.key.with("rank");
  if (range.scale == ColourRange::Scale::Rank) {
    const Tensor ranks = cached_matrix(input, key.with("all"), [&] {
      const std::vector<float> list = sampled_ranks(matrix.host());
      return Tensor::from({static_cast<Index>(list.size())}, list);
    });
    range.ranked.assign(ranks.begin(), ranks.end());
  } else {
    key = matrix.key.with("log", range.smallest, range.most);
  }
  key.add(range.colour_map);
  cells.device = nullptr;
  cells.plane = 0;
  cells.values = cached_matrix(input, key, [&] { return scaled(matrix.host(), range).numbers; });
  cells.least = diverging ? -1 : 0;
  cells.most = 1;
}

std::vector<std::string> bar_titles(const ColourRange& range, const std::string& unit) {
  if (range.scale == ColourRange::Scale::Log) return {unit + " (log)", "weight (log)", "log"};
  if (range.scale == ColourRange::Scale::Rank) return {unit + " by rank", "by rank", "rank"};
  return {unit, "weight"};
}

std::string title_of(const ViewInput& input, const MapMatrix& matrix) {
  return matrix.one_head ? title_with_head(input)
                         : picture_title(input.trace, input.part()) + " · " + matrix.caption;
}

// Notes on low contrast and how to improve it; empty if contrast is sufficient. Judges the median
// row, since a few rows can be bright in a dim map: the first row of a causal map always is.
std::vector<std::string> low_contrast_notes(const ViewInput& input, const HeatMap& cells,
                                            const ColourRange& range) {
  constexpr double kDim = 0.1;          // threshold relative to the colour range
  constexpr Index kMaxCells = 1 << 21;  // limit of cells to inspect per picture
  const bool has_upper_end = view_values(input.session.view, "map").has("most");
  const bool to_percentile = input.session.view.colour_end == ColourEnd::Percentile;
  // Reading values on a device would download them.
  if (range.scale != ColourRange::Scale::Linear || cells.device) return {};
  if (to_percentile && !has_upper_end) return {};
  const std::vector<float> rows = visible_row_maxima(cells, kMaxCells);
  if (rows.empty() || !(rows.back() > 0)) return {};
  const auto typical = static_cast<double>(rows[rows.size() / 2]);
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

// Notes on the colours for the line below the map, longest first.
std::vector<std::string> notes_of(const ViewInput& input, const MatrixPlot& grid,
                                  const HeatMap& cells, const ColourRange& range) {
  std::vector<std::string> notes = low_contrast_notes(input, cells, range);
  if (!grid.pooled()) return notes;
  if (notes.empty()) return {"max-pooled: each pixel shows its largest", "max-pooled"};
  notes.insert(notes.begin(), notes.front() + "; max-pooled");
  return notes;
}

// Labels the hovered pair in framed pictures, next to which the window has no panel for it.
void draw_pair(Page& page, const MatrixPlot& grid, const AttentionTap& tap, Index head,
               const MapMatrix& matrix) {
  if (grid.hovered_row < 0 || grid.hovered_column < 0) return;
  const auto weight = static_cast<double>(
      matrix.one_head ? attention_row(tap, head, grid.hovered_row)[grid.hovered_column]
                      : matrix.values(grid.hovered_row, grid.hovered_column));
  page.tag(*page.input().interaction.pointer, brief(weight, 3), grid.plot);
}

// Adds the displayed value to hits if it is not the weight of the selected head.
void add_values_to_hits(ViewLayout& layout, const MapMatrix& matrix) {
  if (!matrix.whole || (matrix.one_head && matrix.row_scale == RowScale::None)) return;
  const std::string unit =
      matrix.row_scale == RowScale::None ? "" : " " + unit_of(matrix.row_scale);
  layout.hit = [at = layout.hit, values = matrix.values, unit](Point p) {
    std::optional<Hit> hit = at(p);
    if (hit) hit->shown = brief(static_cast<double>(values(hit->query, hit->key)), 4) + unit;
    return hit;
  };
}

// Layout with the colour bar next to the map, or below it on narrow pages.
struct Placement {
  MatrixPlot matrix;
  bool bar_below;
};
Placement place(const Page& page, const Box& inside, const AttentionTap& tap, double right_width) {
  constexpr double kMuchLarger = 1.3;
  MatrixPlot beside = place_matrix(page, inside, tap, right_width + colour_bar_width(page));
  Box above = inside;
  above.height -= kBarGap * page.em() + level_colour_bar_height(page);
  MatrixPlot below = place_matrix(page, above, tap, right_width);
  if (below.plot.width < kMuchLarger * beside.plot.width ||
      below.plot.width < kMinLevelBar * page.em()) {
    return {std::move(beside), false};
  }
  return {std::move(below), true};
}

ViewLayout lay_out(const ViewInput& input) {
  Page page(input);
  const SelectedTap found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  MapMatrix matrix = map_matrix(input, tap, found.head);
  if (!matrix.headline.empty()) return page.message(matrix.headline, matrix.advice);
  const ViewSettings& settings = input.session.view;
  Box inside = page.frame(title_of(input, matrix), caption(input.trace, matrix.caption + "."));
  const auto pinned = [&](Index at, Index count) { return matrix.whole && at < count ? at : -1; };
  const Index pinned_row = pinned(settings.pinned_query, tap.queries());
  const Index pinned_column = pinned(settings.pinned_key, tap.keys());
  inside.height -= pinned_row_height(page, pinned_row);
  const auto [grid, bar_below] = place(page, inside, tap, pinned_column_width(page, pinned_column));
  if (!(grid.plot.width > 0)) return no_space(page);

  HeatMap cells = matrix_cells(grid);
  ShownCells seen;
  if (matrix.whole) {
    cells.values = seen.values = matrix.values;
    cells.device = matrix.device;
    cells.plane = matrix.plane;
  } else {
    seen = set_cells(cells, input, tap, found.head);
    if (view_values(settings, "map").flag("hide_first")) {
      hide_column(seen.values, first_token_column(tap), seen);
      cells.values = seen.values;
    }
    if (matrix.row_scale != RowScale::None) {
      cells.values = seen.values = row_scaled(seen.values, matrix.row_scale, tap, found.head, seen);
    }
  }
  cells.missing = blend(input.canvas.theme.background, input.canvas.theme.line, 0.5);
  ColourRange range = range_of(input, cells, matrix, tap, found.head, seen);
  cells.colour_map = range.colour_map;
  set_numbers(input, matrix, range, cells);
  const std::vector<std::string> notes = notes_of(input, grid, cells, range);
  page.add(cells);
  const bool has_excluded =
      matrix.one_head ? cover_not_allowed(page, matrix_cells(grid), tap, found.head)
                      : cover_not_allowed(page, matrix_cells(grid), tap, found.head, matrix.values);
  draw_numbers(page, grid, tap, found.head, matrix, seen, range);
  draw_matrix_frame(page, grid, {});
  double bottom = grid.plot.bottom();
  if (!notes.empty()) {
    page.faint_text({grid.plot.x, grid.note_y}, page.fitting(notes, page.small(), grid.plot.width),
                    page.small());
    bottom = grid.note_y + 0.7 * page.em();
  }
  if (pinned_row >= 0 || pinned_column >= 0)
    bottom = draw_pinned(page, grid, matrix.host(), bottom);
  const double used = pinned_column_width(page, pinned_column);
  if (bar_below) {
    draw_level_colour_bar(page, {grid.plot.x, bottom + kBarGap * page.em()}, grid.plot.width, range,
                          bar_titles(range, matrix.unit));
    bottom += kBarGap * page.em() + level_colour_bar_height(page);
  } else {
    draw_colour_bar(page,
                    {grid.right.x + used, grid.right.y, grid.right.width - used, grid.right.height},
                    range, bar_titles(range, matrix.unit));
  }
  if (has_excluded && !bar_below) {
    draw_not_allowed_key(page, grid.right.x + used + page.em(), grid.note_y);
    bottom = std::max(bottom, grid.note_y + 0.7 * page.em());
  }
  if (input.figure.framed) draw_pair(page, grid, tap, found.head, matrix);
  ViewLayout layout = matrix_layout(page, grid, bottom);
  add_values_to_hits(layout, matrix);
  layout.pending = pending_text(seen.exact);
  return layout;
}

ViewData data(const ViewInput& input) {
  const SelectedTap found = require_tap(input);
  const MapMatrix matrix = map_matrix(input, *found.tap, found.head);
  if (!matrix.headline.empty()) throw InputError(matrix.headline + ". " + matrix.advice);
  if (!matrix.whole) return {{head_weights(input, *found.tap, found.head, true)}};
  return {{{"attention", matrix.host(), query_axis(input.trace, *found.tap).labels,
            key_axis(input.trace, *found.tap).labels}}};
}

void restrict_controls(const ViewSettings& settings, const Trace*, ViewControls& controls) {
  const Values values = view_values(settings, "map");
  const std::string& scale = values.choice("scale");
  if (values.has("most") || scale == "rank" || scale == "row") controls.colour_ends.clear();
}

// Weights between two sentences; empty if there is only one.
std::string block_words(const Trace& trace, const HeadRef& at, bool without_special) {
  const std::optional<BlockShares> shares = block_shares(trace, at, without_special);
  if (!shares) return "";
  const auto share = [&](int from, int to) { return percent(shares->of[from][to]); };
  return "This head's weight: the first sentence gives " + share(0, 0) + " to itself and " +
         share(0, 1) + " to the second, which gives " + share(1, 1) + " to itself and " +
         share(1, 0) + " to the first" +
         (without_special ? "; the rest goes to special tokens." : ".");
}

// Cosine similarity of two jointly encoded sentences; empty if there is only one.
std::string similarity_words(const Trace& trace) {
  if (!has_two_sentences(trace)) return "";
  const auto vector = [&](int sentence) {
    return sentence_vector(trace, SentenceVector::Mean, sentence);
  };
  const double cosine = cosine_similarity(vector(0), vector(1));
  if (std::isnan(cosine)) return "";
  return "The means of their tokens after the last layer have cosine similarity " + brief(cosine) +
         ". They attended to each other: to encode them separately, set one as B in Compare.";
}

ViewReading map_reading(const ViewSettings& settings, const Trace* trace) {
  const Values values = view_values(settings, "map");
  ViewReading reading{
      "Each row is a query token, each column a key token. A bright cell: the query attends "
      "strongly to the key. The weights of a row sum to 1; grey pairs are not allowed.",
      {}};
  const bool sinks = trace != nullptr && std::ranges::any_of(trace->attention, [](const auto& tap) {
                       return tap.result.part && tap.result.part->sinks.defined();
                     });
  if (sinks) {
    reading.terms.push_back({"Sink",
                             "a learned score per head that takes part in the softmax without a "
                             "value: rows sum to 1 minus its weight."});
  }
  if (row_scale_of(values) == RowScale::EqualShare) {
    reading.terms.push_back({"Equal share",
                             "the weight of each key if the query attended to all of its keys "
                             "equally; 3 is three times that."});
  }
  const auto add = [&](const char* term, const std::string& words) {
    if (!words.empty()) reading.terms.push_back({term, words});
  };
  if (trace != nullptr) {
    const bool one_head = values.choice("source") == "head";
    const bool without_special = settings.hides_special && special_refusal(*trace).empty();
    add("Two sentences",
        one_head ? block_words(*trace, head_ref(*trace, settings), without_special) : "");
    add("Similarity", similarity_words(*trace));
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
