// The layers that information passes from a key to a query, as lines between the tokens.
#pragma once

#include "core/view/mechanism/layer_path.h"
#include "core/view/mechanism/mechanism.h"
#include "core/view/mechanism/rule_line.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// What stands to the left and to the right of the tokens' columns.
struct LayerMargins {
  double left = 0, right = 0;
};
LayerMargins layer_margins(const Page& page, double width);
// The height of so many layers; `spare`: as much as there is, within reason.
double least_layers_height(const Page& page, Index layers);
double layers_height(const Page& page, Index layers, double spare);

// A row of tokens for each layer's output, the input at the bottom; the query in the top row, what
// it hears of below it, and the path from the key in the colours of its rules.
void draw_layers(Page& page, const TokenColumns& columns, const Box& box, const LayerChain& chain,
                 const Heard& heard, Pair pair, double left_end);
// "“The” (0) comes to “.” (18) through 2 layers: every 4th, then 4 back", and shorter ones.
std::vector<std::string> path_words(const Heard& heard, const std::string& query,
                                    const std::string& key);

// The head within its layer.
Index shown_head(const MechanismOf& of);
// reach_matrix() of the shown part, kept where there is a cache.
Tensor kept_reach(const ViewInput& input, Index layers);
// How many layers to draw: until every token has heard of all that it will, or as many as suit.
Index layers_to_show(const ViewInput& input, const LayerChain& chain);

// The sentence and the legend along the top of `box`, and in the plot, whose places are set, the
// number of layers until each query hears of each key.
double reach_legend_height(const Page& page, Index layers, double width);
void draw_reach_map(Page& page, const Box& box, MatrixPlot& plot, const ViewInput& input,
                    Index layers, int number, Pair pair);

// A pair that takes as many of so many layers as any other with this query: the farthest.
Index farthest_key(const LayerChain& chain, Index query, Index layers);

}  // namespace attnscope
