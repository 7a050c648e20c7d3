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
// Minimum height of `layers` layers, and their preferred height if `spare` is available.
double min_layers_height(const Page& page, Index layers);
double layers_height(const Page& page, Index layers, double spare);

// Draws rows of tokens from the input (bottom) to the output of the last layer (top), with the
// receptive field of the query, and the path from the key in the colours of its rules.
void draw_layers(Page& page, const TokenColumns& columns, const Box& box, const LayerChain& chain,
                 const ReceptiveField& field, Pair pair, double margin_left);
// Texts about a path, longest first: "From “a” (0) to “b” (8) in 2 steps: 4 back, then every 4th".
std::vector<std::string> describe_path(const ReceptiveField& field, const std::string& query,
                                       const std::string& key);

// Index of the head within its layer.
Index head_in_layer(const HeadInput& in);
// reach_matrix() of the selected part, cached.
Tensor cached_reach(const ViewInput& input, Index layers);
// Number of layers to draw: enough to complete all receptive fields, within limits.
Index layers_to_show(const ViewInput& input, const LayerChain& chain);

double reach_legend_height(const Page& page, Index layers, double width);
// Draws a sentence and a legend at the top of `box`, and in `plot` the number of layers until each
// key reaches each query.
void draw_reach_map(Page& page, const Box& box, MatrixPlot& plot, const ViewInput& input,
                    Index layers, int number, Pair pair);

// Key that needs the most layers, up to `layers`, to reach this query.
Index farthest_key(const LayerChain& chain, Index query, Index layers);

}  // namespace attnscope
