// Views that can merge word pieces into words (ViewSettings::words) and leave special tokens out
// (ViewSettings::hides_special).
#pragma once

#include "core/analysis/words.h"
#include "core/view/view.h"

namespace attnscope {

// Returns `view` with a layout of merged words (core/analysis/words.h), used if the settings select
// it and the run has words to merge. Pins and visible region in the settings still refer to tokens:
// the picture shows a pinned token as its word. A hit on two words reports their pinned token pair,
// else their strongest token pair. A hit on one word reports its pinned or first token.
View with_word_merging(View view);

// Input of a view that can merge words: one with merged words, or `input` if the view shows tokens.
// Must not outlive `input`.
class MergedWordsInput {
 public:
  MergedWordsInput(const View& view, const ViewInput& input);
  MergedWordsInput(const MergedWordsInput&) = delete;
  MergedWordsInput& operator=(const MergedWordsInput&) = delete;

  const ViewInput& input() const { return word_input_ ? *word_input_ : tokens_; }
  const std::shared_ptr<const WordTrace>& words() const { return words_; }  // null: shows tokens
  // Word pairs of the selected head; of the first head group if that head does not exist.
  std::shared_ptr<const WordPairs> pairs() const { return pairs_; }

 private:
  const ViewInput& tokens_;
  std::shared_ptr<const WordTrace> words_;
  std::shared_ptr<const WordPairs> pairs_;
  Session session_;  // pins and region count words
  std::optional<ViewInput> word_input_;
};

// "tokens 4 to 6", "token 4": the rows or columns of a word.
std::string describe_pieces(const WordGroups& groups, Index word);

}  // namespace attnscope
