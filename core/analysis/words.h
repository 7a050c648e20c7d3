// Word merging: attention between words instead of subword tokens.
//
// The weight of one word on another is summed over the key word's tokens and averaged over the
// query word's tokens, so that a row that sums to 1 keeps that sum. Queries without allowed keys
// are excluded from the mean. Columns that are not tokens of the text (memory, slots) are not
// merged. Special tokens ("[CLS]") can be removed; the other weights are unchanged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Rows or columns of a map grouped by word: word w has rows [first[w], last[w]). Rows that are not
// in any word are removed.
struct WordGroups {
  std::vector<Index> first, last;  // [words], ascending
  Index rows = 0;                  // total number of rows or columns before grouping

  Index count() const { return static_cast<Index>(first.size()); }
  Index begin(Index word) const { return first[static_cast<std::size_t>(word)]; }
  Index end(Index word) const { return last[static_cast<std::size_t>(word)]; }
  Index size(Index word) const { return end(word) - begin(word); }
  // Word of a row; -1 if the row is removed or out of range.
  Index of(Index row) const;
  Index words_ending_by(Index row) const;        // number of words that end at or before the row
  Index words_starting_before(Index row) const;  // number of words that begin before the row
  // Converts fractional row positions to word positions and back; linear within each word.
  double to_words(double rows) const;
  double to_rows(double words) const;
};

struct WordPairs {
  WordGroups queries, keys;
};

// A run with words instead of tokens.
struct WordTrace {
  // The streams' tokens are words with bytes, labels and ranges in the text. Words with equal text
  // (except a leading space) have equal ids. Taps have merged weights and patterns; maps that are
  // not stored are merged from tiles. A pair of words is allowed if any of its token pairs is
  // allowed, by the first rule that allows a token pair. `part` still refers to tokens.
  // counts[kWordStarts] exists only in merged runs. Other per-token data is removed.
  Trace trace;
  std::vector<WordPairs> pairs;  // one per tap

  const WordPairs& of(const AttentionTap& tap) const;  // tap: of this run or of the unmerged run
};
inline constexpr const char* kWordStarts = "words.first";          // [words + 1]: first tokens
inline constexpr const char* kRemovedTokens = "special.left_out";  // [1]: number of removed tokens

// Transformation of a run's tokens.
struct WordMergeOptions {
  bool merged = true;  // merges subword tokens into words
  bool without_special = false;
  bool operator==(const WordMergeOptions&) const = default;
};

// Reason why no words can be merged: "no word of this text has several tokens"; else empty.
std::string words_refusal(const Trace& trace);

// Reason why no special token can be removed: "this text has no special tokens"; else empty.
std::string special_refusal(const Trace& trace);

// Merges a run's tokens. If words_refusal() gives a reason, each token is one word.
std::shared_ptr<const WordTrace> merge_words(const Trace& trace,
                                             const WordMergeOptions& choice = {});

inline bool has_merged_words(const Trace& trace) {
  return trace.counts.contains(kWordStarts);
}

// weights [.., L_q, L_k] -> [.., words, words]. `counts`: rows that count in the mean of their
// word, [.., L_q]; empty: all.
Tensor merged(const Tensor& weights, const WordPairs& pairs, const std::vector<bool>& counts = {});

}  // namespace attnscope
