// Maps with reordered rows and columns, so that related tokens are adjacent.
#pragma once

#include <vector>

#include "core/view/mechanism/mechanism.h"
#include "core/view/mechanism/token_strip.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// A permutation of tokens and its inverse.
struct TokenOrder {
  std::vector<Index> token, place;
};
TokenOrder in_text_order(Index count);
// Sorts by kind, keeping text order within each kind.
TokenOrder sorted_by(const std::vector<Index>& kinds);

TokenAxis reordered(const TokenAxis& axis, const TokenOrder& order);
Tensor reordered(const Tensor& matrix, const TokenOrder& rows, const TokenOrder& columns);

// Draws the head's weights in these orders and in the selected colours. `key` identifies the
// orders. Returns the range of the colours.
ColourRange draw_sorted_weights(Page& page, const MechanismOf& of, const MatrixPlot& plot,
                                const TokenOrder& rows, const TokenOrder& columns,
                                const CacheKey& key);

// Outlines the blocks where rows and columns have the same kind, in its colour; both must be
// sorted.
void outline_blocks(Page& page, const MatrixPlot& plot, const std::vector<Index>& rows,
                    const std::vector<Index>& columns, const KindColours& colours);

// Text pair at a point of a reordered plot; -1 outside.
Pair sorted_pair_at(const PairAt& at, const TokenOrder& rows, const TokenOrder& columns, Point p);

}  // namespace attnscope
