// Classes of characters as Hugging Face's tokenizers have them for BERT: by tables of Unicode 8,
// which know nothing of what was added since.
#pragma once

#include <cstdint>

namespace attnscope {

bool is_old_punctuation(std::int32_t code);      // P, and ASCII's symbols
bool is_old_nonspacing_mark(std::int32_t code);  // Mn
bool is_old_mark(std::int32_t code);             // M
bool is_old_control(std::int32_t code);          // Cc, Cf, Co

}  // namespace attnscope
