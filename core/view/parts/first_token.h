// Weight of the first token. Many heads attend to it if they find nothing else ("attention sink",
// Xiao et al., 2023, arXiv:2309.17453).
#pragma once

#include <limits>
#include <optional>

#include "core/trace/trace.h"

namespace attnscope {

// Minimum share of the weight, and ratio to the share at equal attention, of a sink.
inline constexpr double kMinSinkShare = 0.4, kMinSinkRatio = 2;

struct FirstTokenShare {
  // Means over the queries after the first: weight on the first token, and its weight if each query
  // attended to its allowed keys equally.
  double share = std::numeric_limits<double>::quiet_NaN();
  double equal = std::numeric_limits<double>::quiet_NaN();
  bool is_sink() const { return share >= kMinSinkShare && share >= kMinSinkRatio * equal; }
};

// Share of a head; nullopt if its map is not in memory, has negative weights or no column for the
// first token, or if queries and keys are different texts.
std::optional<FirstTokenShare> first_token_share(const AttentionTap& tap, Index head);

}  // namespace attnscope
