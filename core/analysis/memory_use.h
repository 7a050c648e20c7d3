// Memory of a model that reads in segments: kinds of columns, weights, receptive field and cost.
//
// Positions are indices into Trace::tokens. References: Dai et al., 2019, section 3.2; Rae et al.,
// 2019, figure 4 (weight by slot) and section 3.1 (range and cost).
#pragma once

#include <optional>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Adjacent columns of one kind. Columns of kind Token are the segment's tokens.
struct SlotRun {
  KeyKind kind = KeyKind::Token;
  Index first = 0, count = 0;
};
std::vector<SlotRun> slot_runs(const AttentionTap& tap);  // oldest first, without empty runs
Index slot_count(const AttentionTap& tap, KeyKind kind);

// Text rows that a column stores; `first` is -1 if unknown.
RowSource column_source(const Trace& trace, const AttentionTap& tap, Index column);

bool reads_in_segments(const Trace& trace);
bool remembers(const Trace& trace);  // true if a layer attends to earlier segments

// A head of a tap, by its index within the group.
struct TapHead {
  const AttentionTap* tap = nullptr;
  Index head = 0;
};

// Weight on all columns of this kind, averaged over queries. If every row sums to 1, the weights of
// all kinds together also sum to 1.
double kind_weight(const TapHead& head, KeyKind kind);

// Mean and population standard deviation of each column's weight over the queries of all heads.
// Each is [L_k]. Forbidden pairs count as 0. All heads must have the same queries and columns.
struct SlotWeights {
  std::vector<double> mean, deviation;
};
SlotWeights slot_weights(const std::vector<TapHead>& heads);

// Receptive field: for each layer, the oldest token that the last token of the segment can reach
// through the allowed pairs of this layer and the layers below it. [layers]
std::vector<Index> oldest_reachable(const Trace& trace, Index segment);

// Tokens before the segment that the memory of N layers can hand on: (m + c·m_c)·N, with m rows of
// memory and m_c rows that each compress c tokens (Dai et al., section 3.2; Rae et al.,
// section 3.1).
struct TemporalRange {
  Index memory = 0, compressed = 0, rate = 1, layers = 0;
  Index tokens() const { return (memory + rate * compressed) * layers; }
};
// Range of a variant whose memory is limited by its parameters; nullopt for other variants.
std::optional<TemporalRange> temporal_range(const Choice& variant, Index segment, Index layers);

// Number of query-key products of one head that reads `length` tokens in segments: products within
// each segment, and products with all rows of the memory, which is empty at first.
double pairs_in_segments(const Choice& variant, Index segment, Index length);
inline double causal_pair_count(Index length) {  // pairs of causal attention over a whole text
  return 0.5 * static_cast<double>(length) * static_cast<double>(length + 1);
}

}  // namespace attnscope
