// Sentences as vectors, and the two that an encoder reads together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Whether the run is of two sentences (TraceToken::sentence).
bool has_two_sentences(const Trace& trace);

// How much of its weight each of two sentences gives to each.  [2][2], rows that add up to 1 where
// those of the map do; nothing where there are not two, or the map was not kept. without_special:
// what looks or is looked at counts only where the tokenizer has not put it in ("[SEP]").
struct BlockShares {
  double of[2][2];
};
std::optional<BlockShares> block_shares(const Trace& trace, const HeadRef& at,
                                        bool without_special = false);

// What stands for a sentence: Mean of its tokens, with those that the tokenizer put in (Reimers and
// Gurevych, 2019), or its First token, where encoders have their "[CLS]".
enum class SentenceVector { Mean, First };

// After the last layer, before a norm that follows it; empty: the run has no such states. sentence:
// 0 or 1 of two; -1: all tokens.  [d]
std::vector<double> sentence_vector(const Trace& trace, SentenceVector which, int sentence = -1);

// a·b / (|a| |b|), in double precision; NaN where the vectors are empty, of different sizes or 0.
double cosine_similarity(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace attnscope
