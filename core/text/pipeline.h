// A tokenizer as a chain of steps: added tokens are found, what lies between is normalized and
// split into pieces, a model gives the tokens of each piece, and a template says what stands around
// them.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/text/added_tokens.h"
#include "core/text/model/token_model.h"
#include "core/text/normalize/normalizer.h"
#include "core/text/process/decoder.h"
#include "core/text/process/template.h"
#include "core/text/split/pieces.h"
#include "core/text/tokenizer.h"

namespace attnscope {

struct PipelineSteps {
  std::shared_ptr<Vocabulary> vocabulary = std::make_shared<Vocabulary>();
  std::vector<AddedToken> added;
  std::vector<NormalizerPtr> normalizers;
  std::vector<SplitterPtr> splitters;
  TokenModelPtr model;
  Template around;
  Decoder decoder;
  bool shows_written = false;  // labels are as the vocabulary writes tokens ("##ing")
  std::set<std::int32_t>
      marks;               // tokens that stand for no text, besides added ones that are special
  std::int32_t mask = -1;  // the token that stands for a hidden word
  std::map<std::string, std::string> files;  // what save() writes, by name
};

std::shared_ptr<const Tokenizer> pipeline_tokenizer(PipelineSteps steps);

}  // namespace attnscope
