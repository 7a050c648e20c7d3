// The text files of a plan, and the tokens that are learned from them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/stop.h"
#include "core/text/tokenizer.h"
#include "core/training/train.h"

namespace attnscope {

struct Texts {
  std::vector<std::string> training, held_out;
};

// InputError when a file cannot be read, or a held-out text is empty.
Texts read_texts(const TrainingPlan& plan);

// The folder's own tokenizer where a training is resumed, otherwise one of model.vocabulary tokens
// less those that are `kept` for no text, learned from the training texts by byte-pair encoding.
std::shared_ptr<const Tokenizer> make_tokenizer(const TrainingPlan& plan, const Texts& texts,
                                                const Stop& stop, Index kept = 0);

// All texts, one after the other.
std::vector<std::int32_t> tokens_of(const std::vector<std::string>& texts,
                                    const Tokenizer& tokenizer, const Stop& stop);

}  // namespace attnscope
