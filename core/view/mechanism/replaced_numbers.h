// What changes in a head when one token of the text is replaced.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedChange {
  Index row = -1;            // the token among the queries; -1: it is none of them
  Index column = -1;         // among the keys, where they are tokens
  Tensor weights;            // [L_q, L_k] |a' − a|, NaN where neither run allows the pair
  std::vector<double> rows;  // by query: half the sum of its |a' − a|, what moved of a share of 1
  std::vector<double> outputs;  // by query: |o' − o| / |o|; 0 where neither has any
  std::vector<bool> sees;       // by query: whether it may look at the token, in either run
};
// The same head in both runs, `position` of the token in the trace. InputError where the maps
// differ in size or cannot be made.
ReplacedChange change_of(const Trace& trace, const AttentionTap& without, const AttentionTap& with,
                         Index head, Index position);

// Less is what the order of additions leaves.
inline constexpr double kLeastChange = 2e-6;        // of a row's weights
inline constexpr double kLeastOutputChange = 2e-5;  // of an output

// What that says of the method, a sentence each: "Row 7 alone changes: ...". `layer` of the head.
std::vector<std::string> change_words(const ReplacedChange& change, Index layer);

}  // namespace attnscope
