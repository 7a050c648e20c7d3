// Templates, the last step of a tokenizer (pipeline.h): add special tokens around texts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/text/tokenizer.h"

namespace attnscope {

struct TemplatePart {
  int text = -1;             // 0: the first text, 1: the second; -1: a special token
  std::int32_t id = 0;       // id of the special token
  std::int32_t segment = 0;  // segment of the text or token
};

struct Template {
  std::vector<TemplatePart> single = {{0, 0, 0}};
  std::vector<TemplatePart> pair = {{0, 0, 0}, {1, 0, 1}};
};

// BERT and RoBERTa: "[CLS] A [SEP] B [SEP]", "<s> A </s> </s> B </s>".
Template bert_template(std::int32_t begin, std::int32_t separator);
Template roberta_template(std::int32_t begin, std::int32_t separator);
// Put the special token `id` before (after) each text if `enabled`, else remove it there.
void set_before(Template& all, std::int32_t id, bool enabled);
void set_after(Template& all, std::int32_t id, bool enabled);

// Tokens of one text and the text's size in bytes.
struct EncodedText {
  std::vector<Token> tokens;
  std::size_t size = 0;
};
// Tokens of `texts` in the order of `parts`, which is Template::single or Template::pair.
std::vector<Token> assemble(const std::vector<TemplatePart>& parts,
                            const std::vector<EncodedText>& texts);

}  // namespace attnscope
