// Test patterns for the different code paths of kernels.
#pragma once

#include <functional>

#include "core/part/pattern.h"

namespace attnscope::testing {

// Calls add(builder, head, query) for each row.
Pattern build_pattern(Index heads, Index queries, Index keys, int rules,
                      const std::function<void(PatternBuilder&, Index, Index)>& add);

// Causal pattern of `window` preceding keys and every `step`-th key.
Pattern strided_pattern(Index queries, Index keys, Index step, Index window);

// Pattern of two hashing rounds. In each round, a query attends to the other keys of its bucket.
Pattern hashed_pattern(Index heads, Index queries, Index keys, Index buckets);

// Pattern with runs of random length and step, empty rows, full rows and repeated rows.
Pattern random_pattern(Index heads, Index queries, Index keys, std::uint64_t seed);

// `count` random keys per row.
Pattern scattered_pattern(Index heads, Index queries, Index keys, Index count);

}  // namespace attnscope::testing
