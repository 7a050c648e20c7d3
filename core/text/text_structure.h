// Structure of a tokenized text: sentences and brackets.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace attnscope {

struct TextStructure {
  std::vector<Index> sentence;   // [L] sentence of each token: 0, 1, ... without gaps
  std::vector<Index> enclosing;  // [L] token of the innermost bracket or quotation mark open before
                                 // each token; -1: none
  std::vector<std::pair<Index, Index>> brackets;  // tokens of matching brackets

  Index tokens() const { return static_cast<Index>(sentence.size()); }
  Index sentences() const { return sentence.empty() ? 0 : sentence.back() + 1; }
};

// Finds the structure of a text. `bytes`: the text of each token, "" for tokens without text. A
// sentence ends at an empty line, and after . ! ? … or their wide forms, including closing brackets
// and quotation marks after them. A space or the end of the text must follow, except after wide
// forms. Abbreviations such as "Mr." and single capital letters with a full stop do not end a
// sentence. Brackets are ( [ { and their counterparts, “ ” « » and straight quotation marks;
// unmatched brackets are ordinary characters.
TextStructure text_structure(const std::vector<std::string>& bytes);

}  // namespace attnscope
