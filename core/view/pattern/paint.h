// Painting of masks: pairs covered by a stroke, and the mask as the variant `custom`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/experiment/mask_and_graph.h"
#include "core/trace/trace.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// [query, key]
using Cell = std::pair<Index, Index>;

// Pairs covered by a stroke. "brush": along the path; "line": between its ends; "rectangle":
// between its corners.
std::vector<Cell> stroke_cells(const std::string& tool, const std::vector<Cell>& path);

// Pattern of a head as a mask.  [L_q, L_k], 1: allowed. Throws InputError above kMaxPainted rows or
// columns.
inline constexpr Index kMaxPainted = 4096;
ByteTensor mask_of_head(const AttentionTap& tap, Index head_in_group);

// The painted mask, including parts that causality or a shorter text hides. For variants other than
// `custom`: a copy of `current`, the mask of the current pattern.
ByteTensor mask_as_painted(const std::optional<Choice>& choice, const ByteTensor& current);

// The variant `custom` with this mask.
Choice custom_choice(const ByteTensor& mask);

// True if the tap's mask can be painted.
bool is_painted(const AttentionTap& tap);

// Operations on a whole mask: "allow", "forbid", "invert", "mirror" (transposes).
ByteTensor apply_to_mask(const ByteTensor& mask, const std::string& operation);

// Adds a handle for painting on the matrix with the view's settings.
void add_canvas(const ViewInput& input, const MatrixPlot& matrix, const AttentionTap& tap,
                Index head_in_group, ViewLayout& layout);

}  // namespace attnscope
