// Grouping of tokens into words.
//
// A token continues the word before it if no word boundary separates them. There is no boundary
// - within a character (tokens can be single bytes), or between a letter and its accent;
// - between letters, numbers and "_": "sa" "il" "or", "GPT" "2";
// - next to an apostrophe between letters ("don" "'t"), or a point or comma between numbers;
// - after a space: a space belongs to the next token ("␣" "boat") and begins a word; a token with a
//   trailing space ("low␣" "er") ends its word.
// Punctuation, line ends, tabs and special tokens are separate words, and so are all tokens in
// scripts without spaces between words (Chinese, Japanese, Thai, ...).
#pragma once

#include <string>
#include <vector>

namespace attnscope {

struct WordPiece {
  std::string bytes;     // the token's text
  bool special = false;  // a marker, not text
};

// True for each piece that begins a word. Never splits a piece.
std::vector<bool> begins_word(const std::vector<WordPiece>& pieces);

}  // namespace attnscope
