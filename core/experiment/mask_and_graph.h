// Choices of the variants `custom` and `graph` from a mask or edges that the user drew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/session.h"
#include "core/part/mask_rows.h"

namespace attnscope {

inline constexpr const char* kCustomMask = "custom";
inline constexpr const char* kGraph = "graph";

// `custom` with these rows.
Choice mask_choice(const MaskRows& rows);

// `graph` with these edges (pairs of tokens); copies other parameters from `before` if its variant
// is `graph`.
Choice graph_choice(const std::vector<std::vector<Index>>& edges, bool one_way,
                    const std::optional<Choice>& before = std::nullopt);

// Variant choice of the view's layer and head: of the last group with this head, or else of the
// whole run.
std::optional<Choice>& governing_variant(RunView& viewed);

}  // namespace attnscope
