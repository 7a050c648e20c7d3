// Text files of a plan, and the tokenizer learned from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"
#include "core/training/train.h"

namespace attnscope {

struct Texts {
  std::vector<std::string> training, held_out;
};

// Throws InputError if a file cannot be read, or a held-out text is empty.
Texts read_texts(const TrainingPlan& plan);

// Loads the tokenizer of a resumed training from the plan's folder, or takes that of the model that
// the plan starts from. Otherwise learns a tokenizer of model.vocabulary - `reserved` tokens from
// the training texts by byte-pair encoding. Throws InputError if the model to start from has none.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainingPlan& plan, const Texts& texts,
                                                Index reserved = 0);

// Token ids of all texts, concatenated.
std::vector<std::int32_t> encode_texts(const std::vector<std::string>& texts,
                                       const Tokenizer& tokenizer);

}  // namespace attnscope
