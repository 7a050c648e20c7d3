// Test patterns of the kinds that kernels process differently.
#pragma once

#include <functional>

#include "core/part/pattern.h"

namespace attnscope::testing {

// Builds each row by add(builder, head, query).
Pattern build_pattern(Index heads, Index queries, Index keys, int rules,
                      const std::function<void(PatternBuilder&, Index, Index)>& add);

// Causal pattern: a window, and every `step`-th key.
Pattern strided_pattern(Index queries, Index keys, Index step, Index window);

// Two rounds of hashing: in each, a query attends to the other tokens in its bucket.
Pattern hashed_pattern(Index heads, Index queries, Index keys, Index buckets);

// Runs of arbitrary length and step, empty and full rows, and occasional repetitions of a row.
Pattern random_pattern(Index heads, Index queries, Index keys, std::uint64_t seed);

// `count` random keys per row.
Pattern scattered_pattern(Index heads, Index queries, Index keys, Index count);

}  // namespace attnscope::testing
