// The two layouts of the Retrieval view.
#pragma once

#include "core/view/view.h"

namespace attnscope {

ViewLayout lay_out_neighbours(const ViewInput& input);  // for runs with a store
ViewLayout lay_out_fetched(const ViewInput& input);     // for memorizing attention

// Selects the token whose retrieval is shown.
void show_retrieval(Session& session, Index token);

}  // namespace attnscope
