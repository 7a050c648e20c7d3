// Which tokens are pieces of one word: the one place that says what a word is.
//
// The tokens' texts are put together, and a token goes on with the word before it where the text
// has no word's end between them:
// - within a character (its bytes can be tokens), or between a letter and its accent;
// - between letters, numbers and "_": "sa" "il" "or", "GPT" "2";
// - around an apostrophe between letters ("don" "'t") and a point or comma between numbers;
// - after a space: it belongs to what follows ("␣" "boat"), and so begins a word; where a token has
//   it behind its letters ("low␣" "er") the word ends with it.
// All else stands alone: punctuation, line ends, tabs, special tokens. In scripts without spaces
// between words (Chinese, Japanese, Thai, ...) tokens stay as they are.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct WordPiece {
  std::string bytes;     // what the token stands for
  bool special = false;  // it marks something, and is no text
};

// For each piece whether a word begins with it. A piece is never cut, whatever it holds.
std::vector<bool> begins_word(const std::vector<WordPiece>& pieces);

}  // namespace attnscope
