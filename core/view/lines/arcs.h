// The second style of the Lines view: arcs over one line of text.
#pragma once

#include "core/view/lines/line_set.h"

namespace attnscope {

// values: of the view "lines".
ViewLayout lay_out_arcs(const ViewInput& input, Page& page, const AttentionTap& tap,
                        const Values& values);

// What title and caption of either style say.
std::string lines_title(const ViewInput& input, const LineSet& set);
std::string lines_about(const ViewInput& input, const AttentionTap& tap, const LineSet& set,
                        double least);

}  // namespace attnscope
