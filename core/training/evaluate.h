// How well a model predicts a text.
#pragma once

#include <string_view>

#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {

// Bits that the model needs for each byte of `text`: -log2 of what it gave the tokens, over the
// number of bytes. Windows of `length` tokens (0: the context) overlap by half, so that every token
// but the first ones is predicted from at least half a window; the first token counts
// log2(vocabulary) unless the tokenizer puts a special one before it. InputError for an empty text
// or a model without a tokenizer.
double bits_per_byte(const Checkpoint& checkpoint, std::string_view text, const Stop& stop,
                     Index length = 0);

}  // namespace attnscope
