// Painting of masks: pairs covered by a stroke, and the mask as the variant `custom`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/experiment/mask_and_graph.h"
#include "core/trace/trace.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// A query-key pair.
using Cell = std::pair<Index, Index>;

// Pairs covered by a stroke. `tool`: "brush" covers the path, "line" the line between the path's
// ends, "rectangle" the rectangle whose opposite corners are the path's ends.
std::vector<Cell> stroke_cells(const std::string& tool, const std::vector<Cell>& path);

inline constexpr Index kMaxPainted = 4096;  // maximum number of queries or keys
// Pattern of a head as a mask [L_q, L_k]; 1: allowed. Throws InputError for more than kMaxPainted
// queries or keys.
ByteTensor mask_of_head(const AttentionTap& tap, Index head_in_group);

// If `choice` is the variant `custom`, its whole mask (up to kMaxPainted rows and columns),
// including parts that causality or a shorter text hides; tokens beyond the painted rows attend to
// themselves. Otherwise a copy of `current`, the mask of the current pattern.
ByteTensor mask_as_painted(const std::optional<Choice>& choice, const ByteTensor& current);

// The variant `custom` with this mask.
Choice custom_choice(const ByteTensor& mask);

// True if the tap's mask can be painted.
bool is_painted(const AttentionTap& tap);

// Changes all pairs: "allow", "forbid", "invert", or "mirror" (also allows transposed pairs).
ByteTensor apply_to_mask(const ByteTensor& mask, const std::string& operation);

// Adds a handle that paints on the matrix with the view's settings, if the mask can be painted.
void add_canvas(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                Index head_in_group, ViewLayout& layout);

}  // namespace attnscope
