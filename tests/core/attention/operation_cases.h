// Random operations for tests that iterate over all variants and encodings.
#pragma once

#include "core/attention/variant.h"

namespace attnscope::testing {

struct OperationSizes {
  Index batch = 1, heads = 2, kv_heads = 2, length = 16;
  Index model = 6, key = 4, value = 3, inner = 6;
  Index memory = 5, old_memory = 4;
};

Dimensions dimensions(const OperationSizes& sizes);

// Returns `sizes`, with values as wide as keys if the operation is supported with such values only.
OperationSizes compatible_sizes(OperationSizes sizes, const Choice& variant, const Choice& encoding,
                                bool causal);

// Returns an operation with random x, q, k, v and random weights for the variant and encoding. All
// numbers follow from `seed`.
OperationInput random_operation(const OperationSizes& sizes, const Choice& variant,
                                const Choice& encoding, bool causal, std::uint64_t seed);

// Returns the default values, and copies of them in which one Choice or Flag parameter has another
// value.
std::vector<Values> value_cases(const std::vector<Parameter>& parameters);

// Returns `variant` with these values. Sizes and positions in the values are set for a text of 16
// tokens.
Choice small_choice(const Variant& variant, Values values);

std::string describe(const OperationInput& input);

}  // namespace attnscope::testing
