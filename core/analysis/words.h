// Attention between words: pieces of words merged.
//
// The weight of a word on another one is summed over the pieces of the key's word and is the mean
// over those of the query's word, so that rows that add up to 1 still do. Queries that may see no
// key are left out of the mean. What stands for no token of the text (memory, slots) stays apart.
// Special tokens ("[CLS]") can be left out; the other weights stay as they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Rows or columns of a map that are one word's: first[w] up to last[w], without it. Those of no
// word are left out.
struct WordGroups {
  std::vector<Index> first, last;  // [words], rising
  Index rows = 0;                  // or columns, of the tokens

  Index count() const { return static_cast<Index>(first.size()); }
  Index begin(Index word) const { return first[static_cast<std::size_t>(word)]; }
  Index end(Index word) const { return last[static_cast<std::size_t>(word)]; }
  Index size(Index word) const { return end(word) - begin(word); }
  // The word that a row is of; -1 for what is left out or no row.
  Index of(Index row) const;
  Index ended_by(Index row) const;      // words that end there or before
  Index begun_before(Index row) const;  // words that begin before it
  // Places between rows as places between words, and back: straight lines from word to word.
  double to_words(double rows) const;
  double to_rows(double words) const;
};

struct WordPairs {
  WordGroups queries, keys;
};

// A run with words in the place of tokens.
struct WordTrace {
  // Its streams' tokens are words: their bytes, labels and places in the text, and an id for each
  // text (without the space before it). Its taps have the merged weights (those that were not kept
  // are merged from tiles) and patterns: a pair of words is allowed where one of its pieces is, by
  // the first rule that allows one. `part` says what the weights are; its rows are the tokens'.
  // counts[kWordStarts] tells merged ones from others. What else belongs to tokens is left out.
  Trace trace;
  std::vector<WordPairs> pairs;  // of each of its taps

  const WordPairs& of(const AttentionTap& tap) const;  // by its address, of either run
};
inline constexpr const char* kWordStarts = "words.first";    // [words + 1]: among the run's tokens
inline constexpr const char* kLeftOut = "special.left_out";  // [1]: how many tokens; or not there

// What becomes of a run's tokens.
struct WordChoice {
  bool merged = true;  // pieces of words into words
  bool without_special = false;
  bool operator==(const WordChoice&) const = default;
};

// Why there are no words to merge into: "no word of this text is in several pieces"; empty: there
// are.
std::string words_refusal(const Trace& trace);

// Why no token can be left out: "no token of this text is special"; empty: there is one.
std::string special_refusal(const Trace& trace);

// Of a run that the refusals have nothing against; others come out with a word a token.
std::shared_ptr<const WordTrace> in_words(const Trace& trace, const WordChoice& choice = {});

// Whether a trace is one of words.
inline bool is_in_words(const Trace& trace) {
  return trace.counts.contains(kWordStarts);
}

// weights [.., L_q, L_k] -> [.., words, words]. `counts`: which rows count in the mean of their
// word, [.., L_q]; empty: all do.
Tensor merged(const Tensor& weights, const WordPairs& pairs, const std::vector<bool>& counts = {});

}  // namespace attnscope
