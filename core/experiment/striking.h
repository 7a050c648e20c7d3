// Pairs of words that are worth pointing at, in any run: a word that looks far back at another one,
// and strongly so, such as a pronoun at its noun, or at what followed the same word before.
#pragma once

#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/stop.h"
#include "core/experiment/view_settings.h"
#include "core/trace/trace.h"

namespace attnscope {

// What is remarkable about a pair, the more particular first.
enum class Habit {
  GoesOn,    // it looks at what followed its own word before (induction)
  SameWord,  // it looks at another place of its own word
  Pronoun,   // a pronoun (an English one) looks back at another word
  LooksFar,  // it looks at another word
};
std::string name_of(Habit habit);  // "goes_on", "same_word", "pronoun", "looks_far"

struct StrikingPair {
  HeadRef at;
  Index query = 0, key = 0;  // row and column of the head's map, of tokens: words by their first
  Index words = 0;           // from the one to the other: 1 is the word before, -1 the next
  double weight = 0;         // between the words, see core/analysis/words.h
  double score = 0;          // how striking: see striking_pairs()
  Habit habit = Habit::LooksFar;
  std::string query_word{}, key_word{};  // "she", "girl"
};

// Of longer runs only so many tokens are not too much to look through.
inline constexpr Index kMostStrikingTokens = 1024;

// Why there are none to find, in one sentence; empty: there may be.
std::string striking_refusal(const Trace& trace);

// At most `most`, the most striking first. The score of a pair (query q, key k) is
//   (a_qk - mean_i a_ik / 2) ln(1 + |words|) ln(1 + bits_q) ln(1 + bits_k) habit,
// where the mean is over the queries that may see the key: at some keys all look, whatever they
// are; bits_w is what the word cost the model that reads it, -log2 of its probability: words that
// anybody could guess ("of", "the") say little (1 where nothing is predicted), and habit is 2
// where the query's word goes on or is a pronoun, else 1. It counts half for each pair before it
// that is of the same head, that has the same query, and that has the same key: what comes next
// shows another habit. Of self-attention within the text; weights below 0 are none. Left out are
// words and themselves, punctuation, and the first word, at which heads rest that have nothing to
// look at. InputError: see striking_refusal().
std::vector<StrikingPair> striking_pairs(const Trace& trace, std::size_t most,
                                         const Stop& stop = {}, Progress* progress = nullptr);

// Looks at the head and pins the pair, all of the map in sight.
void point_at(const StrikingPair& pair, const AddressParts& parts, ViewSettings& settings);

// "“she” looks back 7 words at “girl”, with 41% of its weight".
std::string sentence(const StrikingPair& pair);

}  // namespace attnscope
