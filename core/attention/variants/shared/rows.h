// Row-by-row construction of patterns, shared by rules for S_i.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/part/pattern.h"

namespace attnscope {

// Upper bound of the average number of bytes per run, in a list of runs that grows by doubling.
inline constexpr double kBytesOfRun = 1.5 * sizeof(Run);

// Builds a pattern. heads: 1 if all heads share the rows, otherwise input.heads.
// body(builder, head, i) adds the runs of the query at position i, below the causal limit.
Pattern build_rows(const PatternInput& input, Index heads, std::vector<std::string> rules,
                   const std::function<void(PatternBuilder&, Index head, Index i)>& body);

// Adds keys j with |i - j| <= window * dilation and (i - j) mod dilation = 0.
void add_window(PatternBuilder& builder, int rule, Index i, Index window, Index dilation);

// Name of the rule of add_window(): "window ±4"; dilated "every 2nd, ±8"; causal "window 4 back".
std::string window_rule(Index window, Index dilation, bool causal);
std::string ordinal(Index n);  // "8th", "21st"

Parameter window_parameter();
Parameter dilation_parameter();
Parameter seed_parameter();
// Flag "decoder": selects the variant's form for causal order. help: describes the form.
Parameter decoder_parameter(const char* help);
bool is_decoder(const Values& values);
// Parameter "block". Its illustrative default is the number of tokens divided by `divisor`.
Parameter block_parameter(Index initial, Index divisor, double slider_max);

// End of an error message.
std::string found_text(Index found);  // ", found 3"

}  // namespace attnscope
