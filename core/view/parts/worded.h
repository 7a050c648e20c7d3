// Views that can merge word pieces into words (ViewSettings::words) and leave special tokens out
// (ViewSettings::hides_special).
#pragma once

#include "core/analysis/words.h"
#include "core/view/view.h"

namespace attnscope {

// The view, which gets a run of words (core/analysis/words.h) in the place of one of tokens where
// the settings say so and there is something to merge. Pins and the visible part stay those of
// tokens in the settings: a pinned token shows as its word, and what is under the pointer is a
// word's pair of tokens: the pinned one, else the strongest; of a query or key alone the first.
View worded(View view);

// What such a view is laid out from, and its numbers are taken from: the input itself where it
// shows tokens. Must not outlive it.
class WordedInput {
 public:
  WordedInput(const View& view, const ViewInput& input);
  WordedInput(const WordedInput&) = delete;
  WordedInput& operator=(const WordedInput&) = delete;

  const ViewInput& input() const { return of_words_ ? *of_words_ : tokens_; }
  const std::shared_ptr<const WordTrace>& words() const { return words_; }  // null: shows tokens
  // Of the head that the settings look at; of any, where there is no such head.
  std::shared_ptr<const WordPairs> pairs() const { return pairs_; }

 private:
  const ViewInput& tokens_;
  std::shared_ptr<const WordTrace> words_;
  std::shared_ptr<const WordPairs> pairs_;
  Experiment experiment_;  // with settings of words
  std::optional<ViewInput> of_words_;
};

// "tokens 4 to 6", "token 4": the rows or columns that are a word's.
std::string pieces_text(const WordGroups& groups, Index word);

}  // namespace attnscope
