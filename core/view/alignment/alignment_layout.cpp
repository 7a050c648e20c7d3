#include "core/view/alignment/alignment_layout.h"

#include <algorithm>
#include <cmath>

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/token_bars.h"
#include "core/view/parts/tracks.h"

namespace attnscope {
namespace {

using M = AlignmentMeasures;

constexpr double kBox = 1.8;                    // em, height of a letter's box
constexpr double kGap = 0.8;                    // em between parts
constexpr double kMaxCell = 3.6;                // em, width of a letter's column
constexpr double kMinCell = 0.45;               // em; narrower letters are indistinguishable
constexpr double kMaxRibbons = 18;              // em, height of the ribbons
constexpr double kMinRibbons = 3;               // em
constexpr double kMinRow = 0.9, kMaxRow = 2.6;  // em, height of a row of the matrix

double widest_source(const Page& page, const AlignmentNumbers& numbers) {
  double widest = 0;
  for (const std::string& label : numbers.source) {
    widest = std::max(widest, page.width_of(label, page.em()));
  }
  return std::min(widest, 8 * page.em());
}

// Heights in em of text, source, ribbons, target, matrix and candidates. Omits matrix and
// candidates if space is short. Returns no heights if the rest does not fit.
Tracks choose_rows(const Page& page, double height, double sources, std::size_t notice_lines) {
  const double text_height = (1.25 + static_cast<double>(notice_lines)) * M::line;
  const double bars_height =
      static_cast<double>(M::candidates) * token_bar_height(page, false) / page.em();
  const Track matrix{
      .size = kMinRow * sources, .most = kMaxRow * sources, .weight = 1, .gap = kGap};
  const Track candidates{.size = M::title + bars_height};
  const Track none;
  using Panels = std::pair<Track, Track>;
  for (const auto& [fifth, sixth] : {Panels{matrix, candidates}, Panels{none, candidates},
                                     Panels{matrix, none}, Panels{none, none}}) {
    Tracks tracks{
        {.size = text_height},       {.size = kBox}, {.size = kMinRibbons, .most = kMaxRibbons},
        {.size = kBox, .gap = kGap}, fifth,          sixth};
    if (fit(tracks, height / page.em() - kGap)) return tracks;
  }
  return {};
}

// Focus if no letter is hovered.
AlignmentFocus focus_of_settings(const ViewInput& input, const AlignmentNumbers& numbers) {
  AlignmentFocus focus{.row_count = numbers.rows()};
  const Values values = view_values(input.session.view, "alignment");
  if (values.has("step")) {
    focus.is_stepped = true;
    focus.row_count = std::clamp<Index>(values.integer("step"), 1, numbers.rows());
    focus.row = focus.row_count - 1;
  } else {
    focus.row = std::ranges::min_element(numbers.probabilities) - numbers.probabilities.begin();
    focus.is_least_certain = true;
  }
  return focus;
}

}  // namespace

bool AlignmentFocus::highlights(Index pair_row, Index pair_key) const {
  if (is_hovered) return pair_row == row && (key < 0 || pair_key == key);
  if (key >= 0) return pair_key == key;
  return !is_stepped || pair_row == row;
}

double AlignmentPlaces::target_x(Index row) const {
  return target.x + (static_cast<double>(row) + 0.5) * cell;
}

double AlignmentPlaces::source_x(Index key) const {
  const double first = source.x + (source.width - static_cast<double>(sources) * source_cell) / 2;
  return first + (static_cast<double>(key) + 0.5) * source_cell;
}

std::optional<AlignmentPlaces> place_alignment(const Page& page, const Box& inside,
                                               const AlignmentNumbers& numbers,
                                               const std::string& notice) {
  const double em = page.em();
  AlignmentPlaces p;
  p.sources = numbers.sources();
  const double labels = std::max(4.5 * em, widest_source(page, numbers) + 0.8 * em);
  p.bar = page.input().canvas.height > 22 * em && inside.width > 30 * em
              ? colour_bar_width(page) + em
              : 0;
  const double available = inside.width - labels - p.bar;
  p.cell = std::min(kMaxCell * em, available / static_cast<double>(numbers.rows()));
  if (p.cell < kMinCell * em) return std::nullopt;
  p.notice_lines = page.wrapped(notice, em, inside.width, 2).size();
  const auto sources = static_cast<double>(p.sources);
  const Tracks tracks = choose_rows(page, inside.height, sources, p.notice_lines);
  if (tracks.empty()) return std::nullopt;
  const double width = p.cell * static_cast<double>(numbers.rows());
  p.source_cell = std::min(3.0 * em, width / sources);
  const double x = inside.x + labels + std::max(0.0, (available - width) / 2);
  p.labels_left = x - labels;
  p.top = inside.y + page.top_margin(inside.height, extent(tracks) * em);
  const std::vector<Box> boxes = rows({x, p.top, width, 0}, tracks, em);
  p.source = boxes[1];
  p.ribbons = boxes[2];
  p.target = boxes[3];
  p.matrix = boxes[4];
  p.candidates = {inside.x, boxes[5].y, inside.width, boxes[5].height};
  p.bottom = boxes[5].bottom();
  return p;
}

AlignmentFocus alignment_focus(const ViewInput& input, const AlignmentNumbers& numbers,
                               const AlignmentPlaces& places) {
  AlignmentFocus focus = focus_of_settings(input, numbers);
  if (!input.interaction.pointer) return focus;
  const Point p = *input.interaction.pointer;
  const Box &target = places.target, &matrix = places.matrix;
  const bool in_matrix = matrix.height > 0 && matrix.contains(p);
  const bool over_rows = (p.y >= target.y && p.y < target.bottom()) || in_matrix;
  if (over_rows && p.x >= target.x && p.x < target.right()) {
    const auto row = static_cast<Index>((p.x - target.x) / places.cell);
    if (row >= focus.row_count) return focus;
    focus.row = row;
    focus.is_hovered = true;
    focus.is_least_certain = false;
    const auto sources = static_cast<double>(places.sources);
    if (in_matrix) {
      focus.key = std::min(static_cast<Index>((p.y - matrix.y) / matrix.height * sources),
                           places.sources - 1);
    }
    return focus;
  }
  if (p.y < places.source.y || p.y >= places.source.bottom()) return focus;
  for (Index key = 0; key < places.sources; ++key) {
    if (std::abs(p.x - places.source_x(key)) < places.source_cell / 2) focus.key = key;
  }
  return focus;
}

}  // namespace attnscope
