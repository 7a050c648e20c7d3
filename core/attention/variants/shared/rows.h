// What the rules for S_i share: building a pattern row by row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/part/pattern.h"

namespace attnscope {

// Of a run of keys that a pattern lists one by one; its list grows by doubling.
inline constexpr double kBytesOfRun = 1.5 * sizeof(Run);

// body(builder, head, i) adds the runs of the query at position i; the causal limit is set. Rows
// are built for `heads` heads: 1 where all share them, otherwise input.heads.
Pattern build_rows(const PatternInput& input, Index heads, std::vector<std::string> rules,
                   const std::function<void(PatternBuilder&, Index head, Index i)>& body);

// |i - j| <= window * dilation and (i - j) mod dilation = 0.
void add_window(PatternBuilder& builder, int rule, Index i, Index window, Index dilation);

// What that rule is called: "window ±4"; with dilation "every 2nd, ±8"; where no later key is seen
// "4 back".
std::string window_rule(Index window, Index dilation, bool causal);
std::string ordinal(Index n);  // "8th", "21st"

// Parameters that several variants have.
Parameter window_parameter();
Parameter dilation_parameter();
Parameter seed_parameter();
// Tokens of a block: to begin with, as a share of a text that shows the idea (1 / share), and as
// far as a slider goes.
Parameter block_parameter(Index initial, Index share, double slider_most);

// "expected shape" messages need numbers as text.
std::string found_text(Index found);  // ", found 3"

}  // namespace attnscope
