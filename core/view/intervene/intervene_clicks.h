// Click targets of the Intervene view, and their changes to the session.
#pragma once

#include <cstdint>
#include <vector>

#include "core/view/parts/matrix_plot.h"
#include "core/view/view.h"

namespace attnscope {

// Handles for the hovered cell or label of the maps. Cells and key labels forbid, force or restore
// pairs, depending on the view's parameters; query labels select a token. `run`: its pattern
// determines the pairs that react to clicks.
std::vector<Handle> pair_handles(const ViewInput& input, const Trace& run, const MatrixPlot& left,
                                 const MatrixPlot& right);

// True if the rows are input tokens. False if a decoder generated them: they cannot be replaced.
bool can_replace(const Trace& trace);
// Replacement candidates for the token at `position`, whole words before word pieces: the model's
// predictions for that position. The first token has other tokens of the text as candidates.
std::vector<std::int32_t> replacement_candidates(const Trace& run, Index position);
// Handle that replaces the token at `position` with `token`, or restores it if `token` is -1.
Handle replacement_handle(const Box& area, Index position, std::int32_t token);

// Next-token probabilities [vocabulary] at this position; empty if the run predicts none.
std::vector<double> next_token_probabilities(const Trace& trace, Index position);

}  // namespace attnscope
