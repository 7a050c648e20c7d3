// Character classes by Unicode 8, as Hugging Face's BERT tokenizers use them. Characters added in
// later versions are unassigned.
#pragma once

#include <cstdint>

namespace attnscope {

bool is_unicode8_punctuation(std::int32_t code);      // P, and ASCII symbols
bool is_unicode8_nonspacing_mark(std::int32_t code);  // Mn
bool is_unicode8_mark(std::int32_t code);             // M
bool is_unicode8_control(std::int32_t code);          // Cc, Cf, Co

}  // namespace attnscope
