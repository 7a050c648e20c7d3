// Patterns of the kinds that kernels treat differently.
#pragma once

#include <functional>

#include "core/part/pattern.h"

namespace attnscope::testing {

// Rows by add(builder, head, query).
Pattern built_pattern(Index heads, Index queries, Index keys, int rules,
                      const std::function<void(PatternBuilder&, Index, Index)>& add);

// Causal: a window, and every `step`-th key.
Pattern strided_pattern(Index queries, Index keys, Index step, Index window);

// In each of two rounds a query sees the keys of its bucket, those of its own number left out.
Pattern hashed_pattern(Index heads, Index queries, Index keys, Index buckets);

// Runs of any length and step, empty rows and full ones, now and then the row before once more.
Pattern any_pattern(Index heads, Index queries, Index keys, std::uint64_t seed);

// `count` keys anywhere.
Pattern scattered_pattern(Index heads, Index queries, Index keys, Index count);

}  // namespace attnscope::testing
