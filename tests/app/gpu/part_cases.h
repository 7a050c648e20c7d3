// Test parts for comparing backends: every ingredient of scores and values, alone and combined, at
// sizes that are no multiple of a tile, with empty rows, and with numbers that overflow a naive
// softmax.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/part/part.h"

namespace attnscope::testing {

struct PartSizes {
  Index batch = 1, heads = 2, kv_heads = 2;
  Index queries = 37, keys = 37, key = 12, value = 10;
  double spread = 1;  // standard deviation of q and k
  std::uint64_t seed = 1;
};

// Full attention with softmax, the base of all cases.
Part base_part(const PartSizes& sizes);

struct PatternCase {
  std::string name;
  std::function<Pattern(Index heads, Index queries, Index keys)> make;
};
const std::vector<PatternCase>& pattern_cases();
Part part_with_pattern(const PatternCase& pattern,
                       const PartSizes& sizes);  // the rest as in base_part()

// An optional feature of a part.
struct Ingredient {
  std::string name;
  std::function<void(Part&, const PartSizes&)> add;  // modifies a base part
};
const std::vector<Ingredient>& ingredient_cases();

}  // namespace attnscope::testing
