// Sentence vectors, and attention within and between the two sentences of a pair.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// True if the run has two sentences (TraceToken::sentence).
bool has_two_sentences(const Trace& trace);

// Weights between and within two sentences: summed over keys, averaged over queries.
struct BlockWeights {
  double weights[2][2];  // [from][to]
};
// Returns nullopt if the run lacks two sentences, the head or its stored map, or if the queries of
// a sentence are missing. skips_special: ignores queries and keys that the tokenizer inserted
// ("[SEP]").
std::optional<BlockWeights> block_weights(const Trace& trace, const HeadRef& ref,
                                          bool skips_special = false);

// Pooling of token states into a sentence vector: Mean over all tokens, inserted ones included
// (Reimers and Gurevych, 2019), or the First token ("[CLS]" in encoders).
enum class SentenceVector { Mean, First };

// Sentence vector after the last layer, before a final norm; empty if the run has no such states of
// all tokens, or the sentence has no token. sentence: 0 or 1 of a pair; -1: all tokens.  [d]
std::vector<double> sentence_vector(const Trace& trace, SentenceVector pooling, int sentence = -1);

// a·b / (|a| |b|) in double precision; NaN for empty or zero vectors or different sizes.
double cosine_similarity(const std::vector<double>& a, const std::vector<double>& b);

// Cosine similarity of each token's state after the last layer in two runs, before a final norm
// [L]; empty if the runs have no such states, or different numbers of tokens or components.
std::vector<double> state_similarities(const Trace& a, const Trace& b);

}  // namespace attnscope
