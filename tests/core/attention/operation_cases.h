// Operations for tests that iterate over the registries: inputs and weights according to the Infos.
#pragma once

#include "core/attention/variant.h"

namespace attnscope::testing {

struct OperationSizes {
  Index batch = 1, heads = 2, kv_heads = 2, length = 16;
  Index model = 6, key = 4, value = 3, inner = 6;
  Index memory = 5, old_memory = 4;
};

Dimensions dimensions(const OperationSizes& sizes);

// Random x, q, k, v and every weight that the variant and encoding use, deterministic in the seed.
OperationInput random_operation(const OperationSizes& sizes, const Choice& variant,
                                const Choice& encoding, bool causal, std::uint64_t seed);

// The starting values, and for each choice among names or each flag the other ones.
std::vector<Values> value_cases(const std::vector<Parameter>& parameters);

// The starting values of a variant, made to fit a length of 16.
Choice small_choice(const Variant& variant, Values values);

std::string describe(const OperationInput& input);

}  // namespace attnscope::testing
