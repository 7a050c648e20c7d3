// Alignment as a heat map of source by target.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/alignment/alignment_panels.h"
#include "core/view/parts/colour_bar.h"

namespace attnscope {
namespace {

void draw_weights(Page& page, const ShownAlignment& shown, double height) {
  const AlignmentPlaces& p = shown.places;
  const double size = std::min(page.small(), 0.8 * height);
  if (page.width_of("0.00", size) > 0.92 * p.cell || height < 1.1 * size ||
      !page.is_legible(size)) {
    return;
  }
  const ColourMap& map = colour_map(page.input().session.view.colour_map);
  for (Index row = 0; row < shown.focus.row_count; ++row) {
    for (Index key = 0; key < p.sources; ++key) {
      const auto weight = static_cast<double>(shown.numbers.weights(row, key));
      if (weight < 0.005) continue;
      page.add(Text{{p.target_x(row), p.matrix.y + (static_cast<double>(key) + 0.5) * height},
                    fixed(weight, 2),
                    ink_on(map.at(weight)),
                    size,
                    Align::Middle});
    }
  }
}

}  // namespace

void draw_alignment_matrix(Page& page, const ShownAlignment& shown) {
  const AlignmentPlaces& p = shown.places;
  const AlignmentNumbers& numbers = shown.numbers;
  const double em = page.em();
  ColourRange range;
  range.colour_map = page.input().session.view.colour_map;
  HeatMap cells;
  cells.box = p.matrix;
  cells.values = Tensor({p.sources, numbers.rows()});
  for (Index row = 0; row < numbers.rows(); ++row) {
    for (Index key = 0; key < p.sources; ++key) {
      cells.values(key, row) = row < shown.focus.row_count ? numbers.weights(row, key) : NAN;
    }
  }
  cells.height = static_cast<double>(p.sources);
  cells.width = static_cast<double>(numbers.rows());
  cells.colour_map = range.colour_map;
  page.add(std::move(cells));
  page.add(OutlinedBox{p.matrix, page.theme().line, 1});
  const double height = p.matrix.height / static_cast<double>(p.sources);
  const double size = page.legible(std::min(em, 0.95 * height));
  for (Index key = 0; key < p.sources && height >= 0.8 * em; ++key) {
    page.add(Text{{p.matrix.x - 0.6 * em, p.matrix.y + (static_cast<double>(key) + 0.5) * height},
                  page.ellipsised(numbers.source[static_cast<std::size_t>(key)], size,
                                  p.matrix.x - p.labels_left - em),
                  page.theme().text,
                  size,
                  Align::End,
                  0,
                  key == shown.focus.key});
  }
  draw_weights(page, shown, height);
  page.add(
      OutlinedBox{{p.target_x(shown.focus.row) - p.cell / 2, p.matrix.y, p.cell, p.matrix.height},
                  page.theme().accent,
                  2});
  if (p.bar == 0) return;
  draw_colour_bar(
      page, {p.matrix.right() + 0.8 * em, p.ribbons.y, p.bar - em, p.matrix.bottom() - p.ribbons.y},
      range, {"attention to the source", "attention", ""});
}

}  // namespace attnscope
