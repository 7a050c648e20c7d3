// Attention between words: pieces of words merged.
//
// The weight of a word on another one is summed over the pieces of the key's word and is the mean
// over those of the query's word, so that rows that add up to 1 still do. Queries that may see no
// key are left out of the mean. What stands for no token of the text (memory, slots) stays apart.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Rows or columns of a map that are one word's: first[w] up to first[w + 1].
struct WordGroups {
  std::vector<Index> first;  // [words + 1], from 0, rising

  Index count() const { return static_cast<Index>(first.size()) - 1; }
  Index begin(Index word) const { return first[static_cast<std::size_t>(word)]; }
  Index end(Index word) const { return first[static_cast<std::size_t>(word) + 1]; }
  Index size(Index word) const { return end(word) - begin(word); }
  Index all() const { return first.back(); }  // rows or columns
  // The word that a row is of; -1 for what is no row.
  Index of(Index row) const;
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
  // counts[kWordStarts] tells it from others. What else belongs to tokens is left out.
  Trace trace;
  std::vector<WordPairs> pairs;  // of each of its taps

  const WordPairs& of(const AttentionTap& tap) const;  // by its address, of either run
};
inline constexpr const char* kWordStarts = "words.first";  // [words + 1]: among the run's tokens

// Why there are no words to merge into: "no word of this text is in several pieces"; empty: there
// are.
std::string words_refusal(const Trace& trace);

// Of a run that words_refusal() has nothing against; others come out with a word a token.
std::shared_ptr<const WordTrace> in_words(const Trace& trace);

// Whether a trace is one of words.
inline bool is_in_words(const Trace& trace) {
  return trace.counts.contains(kWordStarts);
}

// weights [.., L_q, L_k] -> [.., words, words]. `counts`: which rows count in the mean of their
// word, [.., L_q]; empty: all do.
Tensor merged(const Tensor& weights, const WordPairs& pairs, const std::vector<bool>& counts = {});

}  // namespace attnscope
