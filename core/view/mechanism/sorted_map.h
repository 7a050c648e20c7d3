// Maps with reordered rows and columns, so that related tokens are adjacent.
#pragma once

#include <vector>

#include "core/view/mechanism/mechanism.h"
#include "core/view/mechanism/token_strip.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// A permutation of tokens: the token at each place, and the place of each token. A token of -1
// leaves its place empty.
struct TokenOrder {
  std::vector<Index> token, place;
};
TokenOrder in_text_order(Index count);
// Sorts by kind, and by text order within each kind.
TokenOrder sorted_by(const std::vector<Index>& kinds);

TokenAxis reordered(const TokenAxis& axis, const TokenOrder& order);
Tensor reordered(const Tensor& matrix, const TokenOrder& rows, const TokenOrder& columns);

// Draws the head's weights with rows and columns in these orders, in the selected colours. `key`
// identifies the orders. Returns the colour range.
ColourRange draw_sorted_weights(Page& page, const HeadInput& in, const MatrixPlot& plot,
                                const TokenOrder& rows, const TokenOrder& columns,
                                const CacheKey& key);

// Outlines the blocks of rows and columns of the same kind, in the kind's colour. `rows`,
// `columns`: kind of each token; the plot is sorted by kind.
void outline_blocks(Page& page, const MatrixPlot& plot, const std::vector<Index>& rows,
                    const std::vector<Index>& columns, const KindColours& colours);

// Pair of tokens at a point of a reordered plot; both are -1 outside. `at`: hit test of the plot.
Pair sorted_pair_at(const PairAt& at, const TokenOrder& rows, const TokenOrder& columns, Point p);

}  // namespace attnscope
