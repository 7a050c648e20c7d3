// The two pictures of the Retrieval view.
#pragma once

#include "core/view/view.h"

namespace attnscope {

ViewLayout lay_out_neighbours(const ViewInput& input);  // a run with a store
ViewLayout lay_out_fetched(const ViewInput& input);     // a head that looks keys up

}  // namespace attnscope
