// Painting a mask: which pairs a stroke covers, and the mask as the variant `custom`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/experiment/drawn.h"
#include "core/trace/trace.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// [query, key]
using Cell = std::pair<Index, Index>;

// The pairs that a stroke along these cells covers. "brush": those on the way; "line": those
// between its ends; "rectangle": all between its corners.
std::vector<Cell> stroke_cells(const std::string& tool, const std::vector<Cell>& path);

// The pattern of a head as a mask.  [L_q, L_k], 1: allowed. InputError where it is too large to be
// painted, above kMostPainted rows or columns.
inline constexpr Index kMostPainted = 4096;
ByteTensor mask_of_head(const AttentionTap& tap, Index head_in_group);

// The mask as it was painted, before the direction hides later keys and a shorter text what lies
// beyond it; of other variants `in_force`, the pattern that there is.
ByteTensor mask_asked_for(const std::optional<Choice>& choice, const ByteTensor& in_force);

// A mask as the variant.
Choice custom_choice(const ByteTensor& mask);

// Whether the experiment has a mask there that can be painted on.
bool is_painted(const AttentionTap& tap);

// Changes of a whole mask: "allow", "forbid", "invert", "mirror" (a pair is allowed where the one
// across the diagonal is).
ByteTensor changed_mask(const ByteTensor& mask, const std::string& how);

// Lets the matrix be painted on with what the view's settings say.
void add_canvas(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                Index head_in_group, ViewLayout& layout);

}  // namespace attnscope
