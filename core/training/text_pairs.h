// Source-target pairs as batches of bytes, and tallies of their predictions by source length.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/training/tally.h"

namespace attnscope {

struct TextPair {
  std::string source, target;
};

// Batch of pairs whose sources have equally many bytes, so that the encoder sees no padding. Ids
// are bytes. The decoder's ids begin with the id `start`, and targets end with it. Shorter targets
// are padded with -1.
Batch pair_batch(std::span<const TextPair> pairs, std::int32_t start);

// Predictions of pairs. A pair matches if every token of its target is the most likely one, so that
// greedy decoding would generate the target.
struct PairTally {
  Tally tokens;  // of the targets, including the end
  Index pairs = 0, matches = 0;

  // logits [B, L, vocabulary], targets [B, L]
  void add(const Tensor& logits, const IntTensor& targets);
  void add(const PairTally& other);
  double match_share() const;  // NaN without pairs
};
// Tallies by number of source tokens. Models without attention fail on long sources (Cho et al.,
// 2014, arXiv:1409.1259; Bahdanau et al., 2014, arXiv:1409.0473, figure 2).
using TallyByLength = std::map<Index, PairTally>;

void add(TallyByLength& all, const TallyByLength& more);
PairTally total(const TallyByLength& tallies);

// Tallies of the predictions of `pairs`, which are sorted by source length.
TallyByLength tally_pairs(const Model& model, std::span<const TextPair> pairs, std::int32_t start);

}  // namespace attnscope
