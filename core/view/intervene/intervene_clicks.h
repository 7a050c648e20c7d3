// What can be clicked in the view of interventions, and what that changes in the experiment.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/parts/matrix_plot.h"
#include "core/view/view.h"

namespace attnscope {

// For the cell, key or query under the input's pointer in one of the two maps: a pair or a whole
// key is forbidden or forced, as the view's parameters say, or what was done is taken back; a query
// is selected. `run`: by whose pattern there are pairs; the one before the changes where it is
// known.
std::vector<Handle> pair_handles(const ViewInput& input, const Trace& run, const MatrixPlot& left,
                                 const MatrixPlot& right);

// Whether the rows are tokens that were given: those that a decoder writes are not.
bool can_replace(const Trace& trace);
// Tokens to put in the place of the one at `position`: what the model expected there, or, for the
// first, other tokens of the text; whole words before parts of words.
std::vector<std::int32_t> replacements(const Trace& before, Index position);
// token -1: its own again.
Handle replacement_handle(const Box& area, Index position, std::int32_t token);

// The probabilities of all tokens after this position; empty where the run has none.
std::vector<double> next_tokens(const Trace& trace, Index position);

}  // namespace attnscope
