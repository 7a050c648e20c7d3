// Maps whose rows and columns stand in another order than in the text: what belongs together side
// by side.
#pragma once

#include <vector>

#include "core/view/mechanism/mechanism.h"
#include "core/view/mechanism/token_strip.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// Which token stands at each place, and where each token stands.
struct TokenOrder {
  std::vector<Index> token, place;
};
TokenOrder in_text_order(Index count);
// By kind, and of one kind in the order of the text.
TokenOrder sorted_by(const std::vector<Index>& kinds);

TokenAxis reordered(const TokenAxis& axis, const TokenOrder& order);
Tensor reordered(const Tensor& matrix, const TokenOrder& rows, const TokenOrder& columns);

// The head's weights in these orders, in the colours that were chosen, as the box of the plot.
// `name`: of the orders, for the cache. Returns the range of the colours.
ColourRange draw_sorted_weights(Page& page, const MechanismOf& of, const MatrixPlot& plot,
                                const TokenOrder& rows, const TokenOrder& columns,
                                const std::string& name);

// Outlines where rows of a kind meet columns of the same one, in its colour; both are sorted by it.
void outline_blocks(Page& page, const MatrixPlot& plot, const std::vector<Index>& rows,
                    const std::vector<Index>& columns, const KindColours& colours);

// The pair of the text at a point of a plot in these orders; -1 where there is none.
Pair sorted_pair_at(const PairAt& at, const TokenOrder& rows, const TokenOrder& columns, Point p);

}  // namespace attnscope
