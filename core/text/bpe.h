// Training of byte-level byte-pair encodings (Sennrich et al., 2016; byte alphabet and splitting of
// GPT-2).
#pragma once

#include <functional>

#include "core/text/tokenizer.h"

namespace attnscope {

// Learns merges from `text` until the vocabulary (256 bytes and the merged tokens) has `vocabulary`
// tokens or no pair remains. Deterministic: among pairs of equal count the lowest pair of ids wins.
// Byte b has the id b. progress(fraction) may throw Stopped. Throws InputError if `vocabulary` is
// below 256.
std::shared_ptr<const Tokenizer> train_bpe(std::string_view text, std::int32_t vocabulary,
                                           const std::function<void(double)>& progress = {});

}  // namespace attnscope
