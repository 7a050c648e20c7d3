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
void draw_numbers(Page& page, const MatrixPlot& m, const AttentionTap& tap, Index head,
                  const MapMatrix& shown, const ShownCells& seen, const ColourRange& range) {
  constexpr double kLeastWidth = 3.0, kMinHeight = 1.35;  // em of the smallest numbers
  constexpr double kShownAsZero = 0.005;
  const double cell_width = m.plot.width / m.width, cell_height = m.plot.height / m.height;
  const double size = std::min({cell_width / kLeastWidth, cell_height / kMinHeight, page.em()});
  if (size < 0.7 * page.em() || seen.step != 1) return;
  const Tensor values = shown.whole ? shown.host() : seen.values;
  const ColourMap& colours = colour_map(range.colour_map);
  const Cells rows = visible_cells(m.row, m.height, tap.queries());
  const Cells columns = visible_cells(m.column, m.width, tap.keys());
  const Index pattern_head = tap.result.pattern->heads() > 1 ? head : 0;
  page.add(Clip{m.plot});
  for (Index i = rows.first; i < rows.last; ++i) {
    for (Index c = columns.first; c < columns.last; ++c) {
      const double value = values(i - seen.row, c - seen.column);
      const bool allowed = value != 0 || tap.result.pattern->allowed(pattern_head, i, c);
      if (!allowed || std::isnan(value)) continue;
      const Colour cell = colours.at(range.position(value));
      page.add(Text{{m.plot.x + (static_cast<double>(c) + 0.5 - m.column) * cell_width,
                     m.plot.y + (static_cast<double>(i) + 0.5 - m.row) * cell_height},
                    fixed(value, 2),
                    translucent(ink_on(cell), std::abs(value) < kShownAsZero ? 0.5 : 1),
                    size,
                    Align::Middle});
    }
  }
  page.add(Clip{});
}

// Colour range: explicit limits, else derived from the visible cells.
ColourRange range_of(const ViewInput& input, const HeatMap& cells, const MapMatrix& shown,
                     const AttentionTap& tap, Index head, const ShownCells& seen) {
  const Values options = view_values(input.session.view, "map");
  const bool given = options.has("most");
  const bool settled = given || shown.row_scale == RowScale::Largest;
  ColourRange range = settled ? weight_colours(input, shown.with_signs)
                              : colour_range(input, cells, tap, head, shown.with_signs, seen);
  const bool diverging = colour_map(range.colour_map).diverging();
  if (given) range.most = options.real("most");
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

// Sets the cells' values as `range` requires.
void set_numbers(const ViewInput& input, MapMatrix& shown, ColourRange& range, HeatMap& cells) {
  if (range.scale == ColourRange::Scale::Linear) {
    cells.least = range.least;
    cells.most = range.most;
    return;
  }
  const bool diverging = colour_map(range.colour_map).diverging();
  if (!shown.whole) {  // ranks refer to the visible cells
    if (range.scale == ColourRange::Scale::Rank) range.ranked = ranks_of(cells.values);
    cells.values = scaled(cells.values, range).numbers;
    cells.least = diverging ? -1 : 0;
    cells.most = 1;
    return;
  }
  CacheKey key = shown.key.with("rank");
  if (range.scale == ColourRange::Scale::Rank) {
    const Tensor ranks = cached_matrix(input, key.with("all"), [&] {
      const std::vector<float> list = ranks_of(shown.host());
      return Tensor::from({static_cast<Index>(list.size())}, list);
    });
    range.ranked.assign(ranks.begin(), ranks.end());
  } else {
    key = shown.key.with("log", range.smallest, range.most);
  }
  key.add(range.colour_map);
  cells.device = nullptr;
  cells.plane = 0;
  cells.values = cached_matrix(input, key, [&] { return scaled(shown.host(), range).numbers; });
  cells.least = diverging ? -1 : 0;
  cells.most = 1;
}

std::vector<std::string> bar_titles(const ColourRange& range, const std::string& what) {
  if (range.scale == ColourRange::Scale::Log) return {what + " (log)", "weight (log)", "log"};
  if (range.scale == ColourRange::Scale::Rank) return {what + " by rank", "by rank", "rank"};
  return {what, "weight"};
}

std::string title_of(const ViewInput& input, const MapMatrix& shown) {
  return shown.one_head ? title_with_head(input)
                        : picture_title(input.trace, input.part()) + " · " + shown.caption;
}

// Notes on low contrast and how to improve it; empty if contrast is sufficient. The median row
// counts: a few rows can be bright in a dim map, as the first of a causal one always is.
std::vector<std::string> low_contrast_notes(const ViewInput& input, const HeatMap& cells,
                                            const ColourRange& range) {
  constexpr double kDim = 0.1;          // threshold relative to the colour range
  constexpr Index kMaxCells = 1 << 21;  // limit of cells to inspect per picture
  const bool given = view_values(input.session.view, "map").has("most");
  const bool to_percentile = input.session.view.colour_end == ColourEnd::Percentile;
  // Does not download from a device.
  if (range.scale != ColourRange::Scale::Linear || cells.device) return {};
  if (to_percentile && !given) return {};
  const std::vector<float> rows = visible_row_maxima(cells, kMaxCells);
  if (rows.empty() || !(rows.back() > 0)) return {};
  const auto typical = static_cast<double>(rows[rows.size() / 2]);
  if (!(typical < kDim * range.most)) return {};
  const std::string text = "Half of the rows have no weight above " + brief(typical, 2);
  if (given) return {text + ": lower “To”, or use the log scale", text + ": lower “To”", text};
  const std::string how = input.interaction.key_of
                              ? input.interaction.key_of(HintAction::ColourRange)
                              : "--colours percentile";
  return {text + ": clip at the 99th percentile (" + how + "), or use another scale",
          text + ": clip at 99th percentile (" + how + ")", text};
}

// Notes on the colours for the line below the map, longest first.
std::vector<std::string> notes_of(const ViewInput& input, const MatrixPlot& m, const HeatMap& cells,
                                  const ColourRange& range) {
  std::vector<std::string> notes = low_contrast_notes(input, cells, range);
  if (!m.pooled()) return notes;
  if (notes.empty()) return {"max-pooled: each pixel shows its largest", "max-pooled"};
  notes.insert(notes.begin(), notes.front() + "; max-pooled");
  return notes;
}

// Labels the hovered pair on stage, where no panel does.
void draw_pair(Page& page, const MatrixPlot& m, const AttentionTap& tap, Index head,
               const MapMatrix& shown) {
  if (m.hovered_row < 0 || m.hovered_column < 0) return;
  const auto weight =
      static_cast<double>(shown.one_head ? attention_row(tap, head, m.hovered_row)[m.hovered_column]
                                         : shown.values(m.hovered_row, m.hovered_column));
  page.tag(*page.input().interaction.pointer, brief(weight, 3), m.plot);
}

// Describes hits by the shown value if it is not the head's own weight.
void name_shown(ViewLayout& layout, const MapMatrix& shown) {
  if (!shown.whole || (shown.one_head && shown.row_scale == RowScale::None)) return;
  const std::string unit = shown.row_scale == RowScale::None ? "" : " " + unit_of(shown.row_scale);
  layout.hit = [at = layout.hit, values = shown.values, unit](Point p) {
    std::optional<Hit> hit = at(p);
    if (hit) hit->shown = brief(static_cast<double>(values(hit->query, hit->key)), 4) + unit;
    return hit;
  };
}

// Layout with the colour bar next to the map, or below it on narrow pages.
struct Placed {
  MatrixPlot matrix;
  bool bar_below;
};
Placed place(const Page& page, const Box& inside, const AttentionTap& tap, double right_width) {
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
  const Found found = find_tap(input);
  if (found.tap == nullptr) return page.message(found.headline, found.advice);
  const AttentionTap& tap = *found.tap;
  MapMatrix shown = map_matrix(input, tap, found.head);
  if (!shown.headline.empty()) return page.message(shown.headline, shown.advice);
  const ViewSettings& settings = input.session.view;
  Box inside = page.frame(title_of(input, shown), caption(input.trace, shown.caption + "."));
  const auto pinned = [&](Index at, Index count) { return shown.whole && at < count ? at : -1; };
  const Index pinned_row = pinned(settings.pinned_query, tap.queries());
  const Index pinned_column = pinned(settings.pinned_key, tap.keys());
  inside.height -= pinned_row_height(page, pinned_row);
  const auto [m, bar_below] = place(page, inside, tap, pinned_column_width(page, pinned_column));
  if (!(m.plot.width > 0)) return no_space(page);

  HeatMap cells = matrix_cells(m);
  ShownCells seen;
  if (shown.whole) {
    cells.values = seen.values = shown.values;
    cells.device = shown.device;
    cells.plane = shown.plane;
  } else {
    seen = set_cells(cells, input, tap, found.head);
    if (view_values(settings, "map").flag("hide_first")) {
      hide_column(seen.values, first_token_column(tap), seen);
      cells.values = seen.values;
    }
    if (shown.row_scale != RowScale::None) {
      cells.values = seen.values = row_scaled(seen.values, shown.row_scale, tap, found.head, seen);
    }
  }
  cells.missing = blend(input.canvas.theme.background, input.canvas.theme.line, 0.5);
  ColourRange range = range_of(input, cells, shown, tap, found.head, seen);
  cells.colour_map = range.colour_map;
  set_numbers(input, shown, range, cells);
  const std::vector<std::string> notes = notes_of(input, m, cells, range);
  page.add(cells);
  const bool covered =
      shown.one_head ? cover_not_allowed(page, matrix_cells(m), tap, found.head)
                     : cover_not_allowed(page, matrix_cells(m), tap, found.head, shown.values);
  draw_numbers(page, m, tap, found.head, shown, seen, range);
  draw_matrix_frame(page, m, {});
  double bottom = m.plot.bottom();
  if (!notes.empty()) {
    page.faint_text({m.plot.x, m.note_y}, page.fitting(notes, page.small(), m.plot.width),
                    page.small());
    bottom = m.note_y + 0.7 * page.em();
  }
  if (pinned_row >= 0 || pinned_column >= 0) bottom = draw_pinned(page, m, shown.host(), bottom);
  const double taken = pinned_column_width(page, pinned_column);
  if (bar_below) {
    draw_level_colour_bar(page, {m.plot.x, bottom + kBarGap * page.em()}, m.plot.width, range,
                          bar_titles(range, shown.unit));
    bottom += kBarGap * page.em() + level_colour_bar_height(page);
  } else {
    draw_colour_bar(page, {m.right.x + taken, m.right.y, m.right.width - taken, m.right.height},
                    range, bar_titles(range, shown.unit));
  }
  if (covered && !bar_below) {
    draw_not_allowed_key(page, m.right.x + taken + page.em(), m.note_y);
    bottom = std::max(bottom, m.note_y + 0.7 * page.em());
  }
  if (input.figure.framed) draw_pair(page, m, tap, found.head, shown);
  ViewLayout layout = matrix_layout(page, m, bottom);
  name_shown(layout, shown);
  layout.pending = pending_text(seen.exact);
  return layout;
}

// Exported numbers: the shown matrix.
ViewData data(const ViewInput& input) {
  const Found found = require_tap(input);
  const MapMatrix shown = map_matrix(input, *found.tap, found.head);
  if (!shown.headline.empty()) throw InputError(shown.headline + ". " + shown.advice);
  if (!shown.whole) return {{head_weights(input, *found.tap, found.head, true)}};
  return {{{"attention", shown.host(), query_axis(input.trace, *found.tap).labels,
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
      "Each row is a query token, each column a key token. A "
      "bright cell: the query attends strongly to the key. The weights of a row sum to "
      "1; grey pairs are not allowed.",
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
                             "the weight of each key if the query attended to all "
                             "of its keys equally; 3 is three times that."});
  }
  const auto add = [&](const char* term, const std::string& words) {
    if (!words.empty()) reading.terms.push_back({term, words});
  };
  if (trace != nullptr) {
    const bool one_head = values.choice("source") == "head";
    const bool hides = settings.hides_special && special_refusal(*trace).empty();
    add("Two sentences", one_head ? block_words(*trace, head_ref(*trace, settings), hides) : "");
    add("Similarity", similarity_words(*trace));
  }
  if (values.choice("source") == "rollout") {
    reading.terms.push_back({"Rollout",
                             "share of each input token that arrives here through all "
                             "layers so far, averaged over heads, with the residual path."});
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
