// Salient pairs of words in a run: words with strong attention to a distant word, such as from a
// pronoun to its noun, or from a word to the word after an earlier occurrence.
#pragma once

#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/experiment/view_settings.h"
#include "core/trace/trace.h"

namespace attnscope {

// Kind of a pair, the most specific first.
enum class PairKind {
  Induction,  // key follows an earlier occurrence of the query's word
  SameWord,   // key is another occurrence of the query's word
  Pronoun,    // an English pronoun attends to an earlier word
  Distant,    // any other word
};
std::string name_of(PairKind kind);  // "goes_on", "same_word", "pronoun", "looks_far"

struct SalientPair {
  HeadRef at;                // head that attends
  Index query = 0, key = 0;  // row and column of the head's map: first tokens of the words
  Index words = 0;           // distance: 1 is the previous word, -1 the next
  double weight = 0;         // attention between the words, see core/analysis/words.h
  double other_weight = 0;   // mean over other queries that may see the key; NaN if there are none
  double score = 0;          // see find_salient_pairs()
  PairKind kind = PairKind::Distant;
  std::string query_word{}, key_word{};  // "she", "girl"
};

// Maximum number of tokens of a run that is searched.
inline constexpr Index kMaxSalientTokens = 1024;

// Reason why a run has no salient pairs, in one sentence; empty if it may have some.
std::string salient_pairs_refusal(const Trace& trace);

// Finds at most `max_pairs` pairs, most salient first. The score of query q and key k is
//   (a_qk - mean_i a_ik / 2) ln(1 + |words|) ln(1 + bits_q) ln(1 + bits_k) factor,
// where the mean over the queries that may see the key accounts for keys that attract all queries;
// bits_w is the surprisal -log2 p of word w, small for predictable words ("of", "the"); factor is 2
// for induction and pronouns, otherwise 1. Runs without predictions omit the logarithms of bits.
// For diversity, each selected pair halves the scores of other pairs once per shared head, query
// and key. Considers positive weights of self-attention within the text. Excludes pairs of a word
// with itself, punctuation, and the first word, which often is an attention sink. Throws InputError
// if salient_pairs_refusal() is not empty.
std::vector<SalientPair> find_salient_pairs(const Trace& trace, std::size_t max_pairs,
                                            Progress* progress = nullptr);

// Selects the pair's head, pins the pair and shows the whole map.
void point_at(const SalientPair& pair, const AddressParts& parts, ViewSettings& settings);

// "“she” attends 7 words back to “girl”: 41% (other words: 3% on average)".
std::string sentence(const SalientPair& pair);

}  // namespace attnscope
