// Masks and edges that somebody drew, as choices of the variants that attend by them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/part/mask_rows.h"

namespace attnscope {

inline constexpr const char* kCustomMask = "custom";
inline constexpr const char* kGraph = "graph";

// `custom` with these rows.
Choice drawn_mask(const MaskRows& rows);

// `graph` with these edges, pairs of tokens; other parameters as `before` has them, where that is
// one.
Choice drawn_graph(const std::vector<std::vector<Index>>& edges, bool one_way,
                   const std::optional<Choice>& before = std::nullopt);

// The choice of a variant that the view's layer and head follow: of the last group that has them,
// else of all heads.
std::optional<Choice>& governing_variant(Experiment& experiment);

}  // namespace attnscope
