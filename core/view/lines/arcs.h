// Arc style of the Lines view: arcs over one line of text.
#pragma once

#include "core/view/lines/line_set.h"

namespace attnscope {

// Lays out the arc style. `values`: parameters of the view "lines".
ViewLayout lay_out_arcs(const ViewInput& input, Page& page, const AttentionTap& tap,
                        const Values& values);

// Title and caption of both styles. `min_weight`: pairs with smaller weights have no line.
std::string lines_title(const ViewInput& input, const LineSet& set);
std::string lines_caption(const ViewInput& input, const AttentionTap& tap, const LineSet& set,
                          double min_weight);

}  // namespace attnscope
