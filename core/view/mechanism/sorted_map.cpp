#include "core/view/mechanism/sorted_map.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/view/parts/not_allowed.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/range.h"

namespace attnscope {

TokenOrder in_text_order(Index count) {
  TokenOrder order{std::vector<Index>(static_cast<std::size_t>(count)), {}};
  std::iota(order.token.begin(), order.token.end(), 0);
  order.place = order.token;
  return order;
}

TokenOrder sorted_by(const std::vector<Index>& kinds) {
  TokenOrder order = in_text_order(static_cast<Index>(kinds.size()));
  std::ranges::stable_sort(order.token, {},
                           [&](Index i) { return kinds[static_cast<std::size_t>(i)]; });
  for (std::size_t n = 0; n < order.token.size(); ++n) {
    order.place[static_cast<std::size_t>(order.token[n])] = static_cast<Index>(n);
  }
  return order;
}

TokenAxis reordered(const TokenAxis& axis, const TokenOrder& order) {
  TokenAxis result;
  if (!axis.titles.empty()) result.titles = {axis.titles.back() + ", sorted", axis.titles.back()};
  for (const Index i : order.token) {
    result.labels.push_back(i < 0 ? "" : axis.labels[static_cast<std::size_t>(i)]);
  }
  return result;
}

Tensor reordered(const Tensor& matrix, const TokenOrder& rows, const TokenOrder& columns) {
  Tensor result(matrix.shape());
  for (Index r = 0; r < matrix.dim(0); ++r) {
    for (Index c = 0; c < matrix.dim(1); ++c) {
      result(r, c) = matrix(rows.token[static_cast<std::size_t>(r)],
                            columns.token[static_cast<std::size_t>(c)]);
    }
  }
  return result;
}

ColourRange draw_sorted_weights(Page& page, const HeadInput& in, const MatrixPlot& plot,
                                const TokenOrder& rows, const TokenOrder& columns,
                                const CacheKey& key) {
  HeatMap cells = matrix_cells(plot);
  cells.values =
      cached_numbers(in, key, [&] { return reordered(in.tap.attention(in.head), rows, columns); });
  HeatMap text_order = cells;
  text_order.values = in.tap.attention(in.head);
  const ColourRange range =
      colour_range(in.input, text_order, in.tap, in.head, is_signed(in.tap, in.head));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(std::move(cells));
  HeatMap rules = matrix_cells(plot);
  rules.values = cached_numbers(in, key.with("rules"), [&] {
    const OperationRecord& result = in.tap.result;
    const PatternWindow whole_map{0, 0, in.tap.queries(), in.tap.keys(), 1, 1};
    return reordered(result.mask.defined() ? masked_rules(*result.pattern, result.mask, in.head)
                                           : pattern_rules(*result.pattern, in.head, whole_map),
                     rows, columns);
  });
  rules.missing = excluded_colour(page.theme());
  rules.hollow = true;
  page.add(std::move(rules));
  return range;
}

void outline_blocks(Page& page, const MatrixPlot& plot, const std::vector<Index>& rows,
                    const std::vector<Index>& columns, const KindColours& colours) {
  const double dx = plot.plot.width / static_cast<double>(columns.size());
  const double dy = plot.plot.height / static_cast<double>(rows.size());
  for (const Index kind : std::set<Index>(rows.begin(), rows.end())) {
    // A sorted kind begins after all smaller ones.
    const auto is_smaller = [kind](Index k) { return k < kind; };
    const auto first_row = static_cast<double>(std::ranges::count_if(rows, is_smaller));
    const auto first_column = static_cast<double>(std::ranges::count_if(columns, is_smaller));
    const auto height = static_cast<double>(std::ranges::count(rows, kind));
    const auto width = static_cast<double>(std::ranges::count(columns, kind));
    if (!(width > 0)) continue;
    page.add(OutlinedBox{
        {plot.plot.x + first_column * dx, plot.plot.y + first_row * dy, width * dx, height * dy},
        colours(kind),
        1.5});
  }
}

Pair sorted_pair_at(const PairAt& at, const TokenOrder& rows, const TokenOrder& columns, Point p) {
  const auto [row, column] = at(p);
  if (row < 0 || column < 0) return {-1, -1};
  return {rows.token[static_cast<std::size_t>(row)],
          columns.token[static_cast<std::size_t>(column)]};
}

}  // namespace attnscope
