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

// Choice of `custom` with these rows.
Choice mask_choice(const MaskRows& rows);

// Choice of `graph` with these edges (pairs of tokens). Copies other parameters from `previous` if
// `previous` is a choice of `graph`.
Choice graph_choice(const std::vector<std::vector<Index>>& edges, bool is_directed,
                    const std::optional<Choice>& previous = std::nullopt);

// Variant choice for the view's layer and head: from the last group that sets a variant for this
// head, or else from RunSpec::variant.
std::optional<Choice>& governing_variant(RunView& viewed);

}  // namespace attnscope
