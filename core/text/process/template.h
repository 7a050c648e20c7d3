// The fourth step of a tokenizer: what it puts around one text, or two.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/tokenizer.h"

namespace attnscope {

struct TemplatePart {
  int text = -1;             // 0: the first text, 1: the second; -1: a token of its own
  std::int32_t id = 0;       // which
  std::int32_t segment = 0;  // of either
};

struct Template {
  std::vector<TemplatePart> single = {{0, 0, 0}};
  std::vector<TemplatePart> pair = {{0, 0, 0}, {1, 0, 1}};
};

// BERT's and RoBERTa's: "[CLS] A [SEP] B [SEP]", "<s> A </s> </s> B </s>".
Template bert_template(std::int32_t begin, std::int32_t separator);
Template roberta_template(std::int32_t begin, std::int32_t separator);
// A token that stands at the beginning, or the end, of each text, or does so no longer.
void set_before(Template& all, std::int32_t id, bool wanted);
void set_behind(Template& all, std::int32_t id, bool wanted);

// The tokens of one text or of two, each with the size of its text in bytes, put together.
struct EncodedText {
  std::vector<Token> tokens;
  std::size_t size = 0;
};
std::vector<Token> assembled(const std::vector<TemplatePart>& parts,
                             const std::vector<EncodedText>& texts);

}  // namespace attnscope
