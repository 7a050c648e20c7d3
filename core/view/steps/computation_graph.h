// Computation graph of a recurrent network with adaptive computation time, unrolled over the tokens
// of the text (Graves, 2016, arXiv:1603.08983, figure 1).
#pragma once

#include "core/analysis/halting.h"
#include "core/view/view.h"

namespace attnscope {

// True if the run recorded the states of its sub-steps, which only recurrent networks do.
bool has_sub_steps(const Trace& trace);

// Each column is a token with its sub-steps from bottom to top: the state as a strip, with the
// probability of halting. Lines lead from the states to their weighted mean, thicker for larger
// weights, and from the mean to the first sub-step of the next token. Requires has_sub_steps() and
// halts().
ViewLayout lay_out_computation_graph(const ViewInput& input, const HaltingRecord& record);

}  // namespace attnscope
