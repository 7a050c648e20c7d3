// Row-by-row construction of patterns, shared by rules for S_i.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/part/pattern.h"

namespace attnscope {

// Upper bound per run of a pattern that lists keys one by one; the list grows by doubling.
inline constexpr double kBytesOfRun = 1.5 * sizeof(Run);

// body(builder, head, i) adds the runs of the query at position i; the causal limit is set. Builds
// rows for `heads` heads: 1 if all share them, otherwise input.heads.
Pattern build_rows(const PatternInput& input, Index heads, std::vector<std::string> rules,
                   const std::function<void(PatternBuilder&, Index head, Index i)>& body);

// |i - j| <= window * dilation and (i - j) mod dilation = 0.
void add_window(PatternBuilder& builder, int rule, Index i, Index window, Index dilation);

// Name of that rule: "window ±4"; with dilation "every 2nd, ±8"; if causal "4 back".
std::string window_rule(Index window, Index dilation, bool causal);
std::string ordinal(Index n);  // "8th", "21st"

// Parameters shared by several variants.
Parameter window_parameter();
Parameter dilation_parameter();
Parameter seed_parameter();
// Block size: the default, the illustrative share of a text (1 / share), and the slider's maximum.
Parameter block_parameter(Index initial, Index share, double slider_max);

// End of an error message.
std::string found_text(Index found);  // ", found 3"

}  // namespace attnscope
