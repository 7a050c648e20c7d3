// A tokenizer as a sequence of steps: finds added tokens, normalizes the text between them, splits
// it into pieces, encodes each piece with a model, and adds special tokens by a template.
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
  bool labels_as_written = false;            // labels show tokens as in the vocabulary ("##ing")
  std::set<std::int32_t> marks;              // special tokens other than added tokens
  std::int32_t mask = -1;                    // the mask token; -1: none
  std::map<std::string, std::string> files;  // contents that save() writes, by name
};

std::shared_ptr<const Tokenizer> pipeline_tokenizer(PipelineSteps steps);

}  // namespace attnscope
