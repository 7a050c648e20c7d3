// Path of information from a key to a query, as lines between tokens of successive layers.
#pragma once

#include "core/view/mechanism/layer_path.h"
#include "core/view/mechanism/mechanism.h"
#include "core/view/mechanism/rule_line.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// Margins left and right of the token columns.
struct LayerMargins {
  double left = 0, right = 0;
};
LayerMargins layer_margins(const Page& page, double width);
// Height of `layers` layers; `spare`: as much as useful.
double least_layers_height(const Page& page, Index layers);
double layers_height(const Page& page, Index layers, double spare);

// Draws a row of tokens for each layer's output, the input at the bottom and the query at the top,
// with the receptive field of the query and the path from the key in the colours of its rules.
void draw_layers(Page& page, const TokenColumns& columns, const Box& box, const LayerChain& chain,
                 const ReceptiveField& heard, Pair pair, double left_end);
// "“The” (0) reaches “.” (18) through 2 layers: every 4th, then 4 back", longest first.
std::vector<std::string> path_words(const ReceptiveField& heard, const std::string& query,
                                    const std::string& key);

// Index of the head within its layer.
Index shown_head(const MechanismOf& of);
// reach_matrix() of the shown part, cached.
Tensor cached_reach(const ViewInput& input, Index layers);
// Number of layers to draw: until receptive fields are complete, within limits.
Index layers_to_show(const ViewInput& input, const LayerChain& chain);

// Draws sentence and legend along the top of `box`, and in the placed plot the number of layers
// until each key reaches each query.
double reach_legend_height(const Page& page, Index layers, double width);
void draw_reach_map(Page& page, const Box& box, MatrixPlot& plot, const ViewInput& input,
                    Index layers, int number, Pair pair);

// Key that needs the most layers, up to `layers`, to reach this query.
Index farthest_key(const LayerChain& chain, Index query, Index layers);

}  // namespace attnscope
