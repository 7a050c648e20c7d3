// What a model that reads in segments makes of what it remembers: which columns of a map are of
// which kind, how much weight they get, how far back a token can hear, and what that costs.
//
// Positions are indices into Trace::tokens. Dai et al., 2019, section 3.2; Rae et al., 2019,
// figure 4 (weight by slot) and section 3.1 (range and cost).
#pragma once

#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Neighbouring columns of a kind, oldest first; the segment's own are the tokens.
struct SlotRun {
  KeyKind kind = KeyKind::Token;
  Index first = 0, count = 0;
};
std::vector<SlotRun> slot_runs(const AttentionTap& tap);  // without empty ones
Index slot_count(const AttentionTap& tap, KeyKind kind);

// What column `column` holds, where it holds rows of the text; first -1: not known.
RowSource column_source(const Trace& trace, const AttentionTap& tap, Index column);

// Whether the text is read in segments; whether some layer remembers any of them.
bool reads_in_segments(const Trace& trace);
bool remembers(const Trace& trace);

// A head of a tap, by its index within the group.
struct TapHead {
  const AttentionTap* tap = nullptr;
  Index head = 0;
};

// The mean over queries of the weight on all columns of this kind. Rows that sum to 1 make the
// shares of all kinds sum to 1.
double share_of(const TapHead& head, KeyKind kind);

// Of each column the mean weight over the queries of all these heads, and one standard deviation
// (of the whole, not of a sample). Queries that may not see a column count as 0. The heads have the
// same queries and columns.  [L_k] each
struct SlotWeights {
  std::vector<double> mean, deviation;
};
SlotWeights slot_weights(const std::vector<TapHead>& heads);

// For each layer the oldest token that the last token of the segment can hear of through it and the
// layers below, by the pairs that the run allowed. Decoder's self-attention.  [layers]
std::vector<Index> oldest_heard(const Trace& trace, Index segment);

// Products of queries and keys that one head of this group takes over `length` tokens, what it
// searches included: within segments, and with what is remembered as the memory fills.
double pairs_in_segments(const Choice& variant, Index segment, Index length);
inline double pairs_of_all(Index length) {  // causal attention to the whole text at once
  return 0.5 * static_cast<double>(length) * static_cast<double>(length + 1);
}

}  // namespace attnscope
