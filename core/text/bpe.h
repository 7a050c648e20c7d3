// Byte-level byte-pair encoding (Sennrich et al., 2016; byte alphabet and splitting as in GPT-2).
#pragma once

#include <functional>

#include "core/text/tokenizer.h"

namespace attnscope {

// Learns merges from `text` until there are `vocabulary` tokens (256 bytes and the merges), or
// until the text has no pair left to merge. Deterministic: among pairs of equal count the lowest
// pair of ids wins. Byte b has the id b. `progress(share)` may throw Stopped. InputError when
// `vocabulary` is below 256.
std::shared_ptr<const Tokenizer> train_bpe(std::string_view text, std::int32_t vocabulary,
                                           const std::function<void(double)>& progress = {});

}  // namespace attnscope
