// Salient pairs of words in a run: words with strong attention to a distant word, such as from a
// pronoun to its noun, or from a word to the word after an earlier occurrence.
#pragma once

#include <optional>
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
  Bracket,    // a closing bracket or quotation mark attends to an opening one
  Pronoun,    // an English pronoun attends to an earlier word
  Distant,    // any other word
};
// "goes_on", "same_word", "bracket", "pronoun", "looks_far"
std::string name_of(PairKind kind);

struct SalientPair {
  HeadRef at;                // head that attends
  Index query = 0, key = 0;  // row and column of the head's map: first tokens of the words
  Index words = 0;           // distance: 1 is the previous word, -1 the next
  bool is_merged = false;    // a word has several tokens: the weights exist only with merged words
  double weight = 0;         // attention between the words, see core/analysis/words.h
  double other_weight = 0;   // mean over the other queries that may see the key
  // Largest weight that another query gives to the key, except the key's own word, and the word of
  // that query; 0 and empty without such a query.
  double max_other = 0;
  std::string max_word{};
  double other_heads = 0;  // mean of this pair over the other heads of its group; 0: no others
  double score = 0;        // see find_salient_pairs()
  PairKind kind = PairKind::Distant;
  std::string query_word{}, key_word{};  // "she", "girl"
};

// Text of a word without a leading space: "she".
std::string word_name(const TraceToken& word);

// Maximum number of tokens of a run that is searched.
inline constexpr Index kMaxSalientTokens = 1024;

// Reason why a run has no salient pairs, in one sentence; empty if it may have some.
std::string salient_pairs_refusal(const Trace& trace);

// Finds at most `max_pairs` pairs, most salient first; pairs with a key that another word attends
// to more come last. The score of query q and key k is
//   (a_qk - max(mean_i a_ik, mean_i a_i,i-q+k, mean_g a_qk^g))
//     ln(1 + |words|) ln(1 + bits_k) factor:
// the contrast with the other queries i that may see the key, with the other queries at the same
// distance, and with the other heads g of the group, times distance and surprisal. bits_k is the
// surprisal -log2 p of the key's word, small for predictable words ("of", "the"); factor is 2 for
// induction, brackets and pronouns, otherwise 1. Runs without predictions omit the logarithm of
// bits. For diversity, each selected pair halves the scores of other pairs once per shared head,
// query and key. Considers positive weights of self-attention within the text. Excludes keys that
// attract all queries (the other queries give them more than half of a_qk on average), pairs of a
// word with itself, punctuation except for pairs of brackets, and the first word, which often is an
// attention sink. Throws InputError if salient_pairs_refusal() is not empty.
std::vector<SalientPair> find_salient_pairs(const Trace& trace, std::size_t max_pairs,
                                            Progress* progress = nullptr);

// Pair with the largest score among those of the word that begins at token `query`; nullopt if the
// word has no pair. Throws like find_salient_pairs().
std::optional<SalientPair> most_salient_pair(const Trace& trace, Index query);

// Selects the pair's head, pins the pair and shows the whole map; with merged words if the pair is
// merged, so that the pinned cell has the pair's weight.
void point_at(const SalientPair& pair, const AddressParts& parts, ViewSettings& settings);

// True if another word attends to the key more than the query does.
bool is_exceeded(const SalientPair& pair);

// "“she” looks at “girl” with 87%; the other words give “girl” 3.9% on average", and the word that
// gives most if that is more than half of the pair's weight: ", “the” 95%".
std::string sentence(const SalientPair& pair);

}  // namespace attnscope
