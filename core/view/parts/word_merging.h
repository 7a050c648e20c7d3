// Views that can merge word pieces into words (ViewSettings::words) and leave special tokens out
// (ViewSettings::hides_special).
#pragma once

#include "core/analysis/words.h"
#include "core/view/view.h"

namespace attnscope {

// Returns `view` laid out on a trace of words (core/analysis/words.h) if the settings ask for it
// and there is something to merge. Pins and the visible region in the settings remain those of
// tokens: a pinned token is shown as its word, and a hit on a word is its pinned token pair, else
// the strongest; of a query or key alone, its first token.
View with_word_merging(View view);

// The input of such a view: of words, or `input` itself if it shows tokens, which it must not
// outlive.
class MergedWordsInput {
 public:
  MergedWordsInput(const View& view, const ViewInput& input);
  MergedWordsInput(const MergedWordsInput&) = delete;
  MergedWordsInput& operator=(const MergedWordsInput&) = delete;

  const ViewInput& input() const { return of_words_ ? *of_words_ : tokens_; }
  const std::shared_ptr<const WordTrace>& words() const { return words_; }  // null: shows tokens
  // Word pairs of the selected head, or of any head if that does not exist.
  std::shared_ptr<const WordPairs> pairs() const { return pairs_; }

 private:
  const ViewInput& tokens_;
  std::shared_ptr<const WordTrace> words_;
  std::shared_ptr<const WordPairs> pairs_;
  Session session_;  // with settings of words
  std::optional<ViewInput> of_words_;
};

// "tokens 4 to 6", "token 4": the rows or columns of a word.
std::string pieces_text(const WordGroups& groups, Index word);

}  // namespace attnscope
