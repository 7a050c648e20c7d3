// What the tokens of a text say of its structure: where sentences end, what brackets enclose.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace attnscope {

// Tokens are counted from 0.
struct TextShape {
  std::vector<Index> sentence;   // [L] which sentence each token belongs to, 0, 1, ... without gaps
  std::vector<Index> enclosing;  // [L] the token with the innermost bracket or quotation mark that
                                 // is open before it; -1: none
  std::vector<std::pair<Index, Index>> brackets;  // tokens that open and close the same one

  Index tokens() const { return static_cast<Index>(sentence.size()); }
  Index sentences() const { return sentence.empty() ? 0 : sentence.back() + 1; }
};

// `bytes`: of each token, whose concatenation is the text; empty for what is no text. A sentence
// ends behind . ! ? … (and their wide forms) with any closing marks, before a space or the end,
// also at an empty line; not behind "Mr." and the like, nor behind a single capital letter.
// Brackets are ( [ { and their counterparts, “ ” « » and straight quotation marks; those without a
// counterpart count as other characters.
TextShape text_shape(const std::vector<std::string>& bytes);

}  // namespace attnscope
